import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { answer, type FakeApi, problem, startFakeApi } from '../support/fakes/fake-api.ts';
import { cli, startCli } from '../support/stack/command-line.ts';

let api: FakeApi;

beforeEach(async () => {
  api = await startFakeApi();
});
afterEach(() => api.close());

const cut = (_request: unknown, response: ServerResponse): void => void response.destroy();

describe('a new session of which no answer came', () => {
  const create = (url = api.url) => cli(['session', 'run', '--configuration', 'web'], { url });

  test('may exist: its name is said', async () => {
    api.on('POST /v3/sessions', cut);
    const { exit, err } = await create();
    const [created] = api.seen.map(({ body }) => body as { name: string });
    const open = `does not answer \\(UND_ERR_SOCKET\\) while session ${created?.name} was being created: it may exist\n`;
    expect(exit).toBe(7);
    expect(err).toMatch(new RegExp(`^error: unreachable: http://127.0.0.1:\\d+ ${open}`));
    expect(err).toContain(`follow it with \`./muster session logs -f ${created?.name}\``);
  });

  test('may exist too where a gateway gave up, or the database', async () => {
    api.on('POST /v3/sessions', (_request, response) => answer(response, 504));
    expect(await create()).toMatchObject({ exit: 6, err: expect.stringContaining('it may exist') });
    api.on('POST /v3/sessions', (_request, response) => problem(response, 'storage_unavailable', 'broken off'));
    const { exit, err } = await create();
    expect(exit).toBe(7);
    expect(err).toMatch(
      /^error: storage_unavailable: broken off while session web-\w+ was being created: it may exist\n/,
    );
  });

  test('does not exist where nothing was sent, or it was refused', async () => {
    for (const url of ['http://127.0.0.1:1', 'http://127.0.0.1:39', 'http://localhost:39', 'http://nobody.invalid']) {
      const { exit, err } = await create(url);
      expect([exit, err]).toEqual([7, expect.not.stringContaining('may exist')]);
    }
    api.on('POST /v3/sessions', (_request, response) => problem(response, 'overloaded', 'too much'));
    expect((await create()).err).not.toContain('may exist');
  });
});

describe('a connection that is cut', () => {
  test('in the middle of a log ends with 7, after what came', async () => {
    const begun = Promise.withResolvers<ServerResponse>();
    api.on('GET /api/v1/sessions/s1/logs', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '1000' }).write('first line\n');
      begun.resolve(response);
    });
    const command = startCli(['session', 'logs', 's1'], { url: api.url });
    const response = await begun.promise;
    await eventually('the line is there', () => command.out() !== '');
    response.destroy();
    expect([await command.ended, command.out()]).toEqual([7, 'first line\n']);
    expect(command.err()).toMatch(/^error: unreachable: the connection broke off before the whole log was there\n/);
  });

  test('in the middle of the answer to an upload says that the image may be there', async () => {
    api.on('POST /api/v1/images', (_request, response) => {
      response.writeHead(201, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{', () => setTimeout(() => response.destroy(), 50));
    });
    const { exit, err } = await cli(['image', 'import', '-', '--name', 'n'], { url: api.url, stdin: 'tar' });
    expect(exit).toBe(7);
    expect(err).toMatch(/^error: unreachable: .*the image may be there, see `.\/muster image list`\n/);
  });

  test('before the answer to a whole upload says so too', async () => {
    api.on('POST /api/v1/images', cut);
    const { exit, err } = await cli(['image', 'import', '-', '--name', 'n'], { url: api.url, stdin: 'tar' });
    expect(exit).toBe(7);
    expect(err).toContain('the image may be there');
  });
});
