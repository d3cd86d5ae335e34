import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { identify } from '../../deploy/stack/process-identity.ts';
import { always, answer, type FakeApi, problem, startFakeApi } from '../support/fakes/fake-api.ts';
import { cli } from '../support/stack/command-line.ts';
import { processEnvironment } from '../support/stack/process-environment.ts';

const MAIN = join(import.meta.dirname, '../../cli/main.ts');
const TOKEN = { id: 'i1', name: 'ci', role: 'operator', component: null, created_at: '2026-11-21T10:00:00Z' };
const LISTED = { ...TOKEN, created_by: 'token/root', expires_at: null, expired: false, last_used_at: null };

let api: FakeApi;
let dataDir: string;
beforeEach(async () => {
  api = await startFakeApi();
  api.on('GET /v3/components', always(200, { components: [], next: null }));
  dataDir = await mkdtemp(join(tmpdir(), 'muster-cli-'));
});
afterEach(async () => {
  await api.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** The command line as a process of its own; answers what it printed and the token that it sent. */
async function run(env: Record<string, string>, args = ['component', 'list']) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...processEnvironment(), MUSTER_DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { out, err, code, sent: api.seen.at(-1)?.headers.authorization };
}

describe('the token that is sent', () => {
  /** A stack of the data directory as it writes about itself; its API is this very test. */
  async function ownStack(url = api.url, pid = process.pid) {
    const process_ = (await identify(pid)) ?? { pid, start_time: '0', boot_id: 'gone' };
    const state = { links: { api: url }, components: { api: { process: process_ } } };
    await writeFile(join(dataDir, 'stack.json'), JSON.stringify(state));
    await writeFile(join(dataDir, 'admin-token'), 'muster_own\n', { mode: 0o600 });
  }

  test('is none where none is named', async () => {
    expect(await run({ MUSTER_URL: api.url })).toMatchObject({ code: 0, sent: undefined });
  });
  test('is that of MUSTER_TOKEN, else of the file MUSTER_TOKEN_FILE', async () => {
    const file = join(dataDir, 'my-token');
    await writeFile(file, ' muster_file\n');
    expect((await run({ MUSTER_URL: api.url, MUSTER_TOKEN_FILE: file })).sent).toBe('Bearer muster_file');
    const both = { MUSTER_URL: api.url, MUSTER_TOKEN_FILE: file, MUSTER_TOKEN: 'muster_env' };
    expect((await run(both)).sent).toBe('Bearer muster_env');
  });
  test('is that of the own stack while it runs, wherever that listens', async () => {
    await ownStack();
    expect((await run({})).sent).toBe('Bearer muster_own');
    expect((await run({ MUSTER_URL: api.url })).sent).toBe('Bearer muster_own');
    expect((await run({ MUSTER_TOKEN: 'muster_env' })).sent).toBe('Bearer muster_env');
  });
  test('is not that of the own stack for another API, nor when the stack is gone and somebody else may listen', async () => {
    await ownStack('http://127.0.0.1:1');
    expect(await run({ MUSTER_URL: api.url })).toMatchObject({ code: 0, sent: undefined });
    await ownStack(api.url, 4_000_000);
    expect(await run({})).toMatchObject({ code: 0, sent: undefined });
  });
  test('does not follow to where an answer leads', async () => {
    const other = await startFakeApi();
    api.on('GET /v3/components', (_request, response) => {
      response.writeHead(307, { location: `${other.url}/v3/components` }).end();
    });
    expect((await run({ MUSTER_URL: api.url, MUSTER_TOKEN: 'muster_env' })).code).toBe(7);
    expect(other.seen).toEqual([]);
    await other.close();
  });
  test.each([
    [{ MUSTER_TOKEN: 'two words' }, 'MUSTER_TOKEN holds no token'],
    [{ MUSTER_TOKEN: 'line\nend' }, 'MUSTER_TOKEN holds no token'],
    [{ MUSTER_TOKEN_FILE: '/nowhere/token' }, 'MUSTER_TOKEN_FILE: /nowhere/token cannot be read (ENOENT)'],
  ])('%j is a mistake that is said without the token', async (env, words) => {
    const { code, err } = await run({ MUSTER_URL: api.url, ...(env as Record<string, string>) });
    expect(code).toBe(2);
    expect(err).toContain(words);
    expect(err).not.toContain('words');
    expect(api.seen).toEqual([]);
  });
  test('an empty file is a mistake too', async () => {
    const file = join(dataDir, 'empty');
    await writeFile(file, '\n');
    await chmod(file, 0o600);
    expect((await run({ MUSTER_URL: api.url, MUSTER_TOKEN_FILE: file })).code).toBe(2);
  });
});

describe('a refusal', () => {
  test.each([
    ['unauthenticated', 'MUSTER_TOKEN_FILE'],
    // The API itself says which role is needed, and the command that makes a token of it.
    ['forbidden', 'no'],
    ['too_many_failures', 'correct MUSTER_TOKEN'],
  ] as const)('%s is exit status 4 and says what to do', async (code, words) => {
    api.on('GET /v3/components', (_request, response) => problem(response, code, 'no'));
    const { exit, out, err } = await cli(['component', 'list'], { url: api.url });
    expect([exit, out]).toEqual([4, '']);
    expect(err).toContain(`error: ${code}: no`);
    expect(err).toContain(words);
  });
});

describe('muster token', () => {
  test('create writes the token alone to stdout', async () => {
    api.on('POST /api/v1/tokens', always(201, { ...LISTED, token: 'muster_new' }));
    const args = ['token', 'create', '--role', 'node', '--component', 'x1', '--name', 'ci', '--expires', '2w'];
    const { exit, out, err } = await cli(args, { url: api.url, token: 'muster_admin' });
    expect([exit, out]).toEqual([0, 'muster_new\n']);
    expect(err).toBe('token ci of role operator created; it does not expire, and it is not shown again\n');
    expect(api.seen[0]).toMatchObject({
      body: { role: 'node', component: 'x1', name: 'ci', expires_in: 1_209_600 },
      headers: { authorization: 'Bearer muster_admin' },
    });
  });
  test('create gives the whole record as JSON', async () => {
    api.on('POST /api/v1/tokens', always(201, { ...LISTED, token: 'muster_new' }));
    const { out } = await cli(['token', 'create', '--role', 'reader', '-o', 'json'], { url: api.url });
    expect(JSON.parse(out)).toMatchObject({ name: 'ci', token: 'muster_new' });
  });
  test.each([
    [['create']],
    [['create', '--role', 'root']],
    [['create', '--role', 'reader', '--expires', '30']],
    [['create', '--role', 'reader', '--expires', '0d']],
    [['create', '--role', 'reader', '--expires', '1y']],
    [['revoke']],
  ])('%j is a mistake', async (args) => {
    expect((await cli(['token', ...args], { url: api.url })).exit).toBe(2);
    expect(api.seen).toEqual([]);
  });
  test('list shows what is known of each, never a token', async () => {
    const expired = { ...LISTED, name: 'old', expires_at: '2026-01-01T00:00:00Z', expired: true };
    api.on('GET /api/v1/tokens', always(200, { tokens: [LISTED, expired], next: null }));
    expect((await cli(['token', 'list'], { url: api.url })).out).toBe(
      'NAME  ROLE      COMPONENT  CREATED               BY          EXPIRES                       LAST USED\n' +
        'ci    operator             2026-11-21T10:00:00Z  token/root  never                         never\n' +
        'old   operator             2026-11-21T10:00:00Z  token/root  expired 2026-01-01T00:00:00Z  never\n',
    );
  });
  test('revoke takes names and ids, and shows what it would do', async () => {
    api.on('DELETE /api/v1/tokens/a', (_request, response) => answer(response, 204));
    api.on('DELETE /api/v1/tokens/b', (_request, response) => answer(response, 204));
    expect(await cli(['token', 'revoke', 'a', 'b'], { url: api.url })).toMatchObject({
      exit: 0,
      err: 'token a revoked\ntoken b revoked\n',
    });
    const dry = await cli(['token', 'revoke', 'a', '--dry-run=request'], { url: api.url });
    expect(dry.out).toBe(`DELETE ${api.url}/api/v1/tokens/a\n`);
    expect(api.seen).toHaveLength(2);
  });
});
