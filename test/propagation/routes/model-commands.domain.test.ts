/** The command line of the model: which request each verb makes, and what it shows. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { always, type FakeApi, problem, startFakeApi } from '../../support/fakes/fake-api.ts';
import { cli } from '../../support/stack/command-line.ts';

const BASE = '/api/v1/propagation';
let api: FakeApi;
let folder: string;
beforeEach(async () => {
  api = await startFakeApi();
  folder = await mkdtemp(join(tmpdir(), 'muster-definitions-'));
});
afterEach(async () => {
  await api.close();
  await rm(folder, { recursive: true, force: true });
});

const run = (args: string[], stdin = '') => cli(args, { url: api.url, stdin });
/** What was asked: method, path below the lane, body. */
const seen = () => api.seen.map(({ method, url, body }) => [method, url.replace(BASE, ''), body]);

const ITEM = { uid: 'u1', log_action: 'web.run', state: 'staged', plan: null, staged_at: 't', details: ['++ v: x'] };
const CONNECTION = { id: 'c1', emitter: 'db', emitter_input: 'ip', receiver: 'web', receiver_input: 'host', key: null };
const EVENT = {
  id: 'e1',
  type: 'depends_on',
  parent: 'a',
  parent_action: 'run',
  on: 'success',
  child: 'b',
  child_action: 'run',
};

describe('repository', () => {
  async function definition(path: string, meta = '') {
    await mkdir(join(folder, path, 'actions'), { recursive: true });
    await writeFile(join(folder, path, 'meta.yaml'), meta);
    await writeFile(join(folder, path, 'actions', 'run.sh'), 'exit 0\n');
  }

  test('add uploads every definition below a folder', async () => {
    await definition('web', 'version: 1.20\n');
    await definition('group/db', 'version: "2.0.0"\n');
    await definition('old/3.1.0');
    await writeFile(join(folder, 'web', 'logo'), Buffer.from([0xff, 0x00]));
    api.on(`POST ${BASE}/repositories`, (_, response) => problem(response, 'repository_exists', 'it is there'));
    for (const name of ['web/1.20', 'db/2.0.0', 'old/1.0.0']) {
      api.on(`PUT ${BASE}/repositories/apps/definitions/${name}`, always(201, {}));
    }
    const { exit, err } = await run(['repository', 'add', 'apps', folder, '--overwrite']);
    expect([exit, err]).toEqual([0, expect.stringContaining('definition apps/web:1.20 stored\n')]);
    const files = { 'actions/run.sh': 'exit 0\n' };
    expect(seen()).toEqual([
      ['POST', '/repositories', { name: 'apps' }],
      [
        'PUT',
        '/repositories/apps/definitions/db/2.0.0',
        { files: { ...files, 'meta.yaml': 'version: "2.0.0"\n' }, overwrite: true },
      ],
      ['PUT', '/repositories/apps/definitions/old/1.0.0', { files: { ...files, 'meta.yaml': '' }, overwrite: true }],
      [
        'PUT',
        '/repositories/apps/definitions/web/1.20',
        { files: { ...files, logo: { base64: '/wA=' }, 'meta.yaml': 'version: 1.20\n' }, overwrite: true },
      ],
    ]);
  });

  test('add refuses what leads out of a definition, and a folder without any', async () => {
    expect(await run(['repository', 'add', 'apps', folder])).toMatchObject({ exit: 2 });
    await definition('web');
    await symlink('/etc/passwd', join(folder, 'web', 'link'));
    const { exit, err } = await run(['repository', 'add', 'apps', folder]);
    expect([exit, err]).toEqual([2, expect.stringContaining('links out of it')]);
    expect(api.seen).toEqual([]);
  });

  test('remove takes a repository, or one definition by ==', async () => {
    api.on(`DELETE ${BASE}/repositories/apps`, always(204));
    api.on(`DELETE ${BASE}/repositories/apps/definitions/web/1.0.0`, always(204));
    expect((await run(['repository', 'remove', 'apps/web:==1.0.0', 'apps'])).exit).toBe(0);
    expect(api.seen).toHaveLength(2);
    const { exit, err } = await run(['repository', 'remove', 'apps/web:1.0.0']);
    expect([exit, err, api.seen.length]).toEqual([2, expect.stringContaining(':==VERSION'), 2]);
  });

  test('get shows versions; one that is not there is exit status 3', async () => {
    api.on(`GET ${BASE}/repositories/apps`, always(200, { name: 'apps', definitions: { web: ['1.0.0', '1.1.0'] } }));
    expect((await run(['repository', 'get', 'apps'])).out).toContain('web         1.0.0 1.1.0');
    api.on(`GET ${BASE}/repositories/none`, always(404, { status: 404, code: 'repository_not_found', detail: 'none' }));
    expect(await run(['repository', 'get', 'none'])).toMatchObject({
      exit: 3,
      err: expect.stringContaining('./muster repository list'),
    });
  });
});

describe('resource', () => {
  test.each([
    [['port=80', 'ip=10.0.0.1', 'a=b=c', 'on=true'], { port: 80, ip: '10.0.0.1', a: 'b=c', on: true }],
    [['{"env": {"A": "b"}}', 'text="80"'], { env: { A: 'b' }, text: '80' }],
    [[], {}],
  ])('create takes %j', async (words, inputs) => {
    api.on(`POST ${BASE}/resources`, always(201, { name: 'web' }));
    const { exit, out } = await run(['resource', 'create', 'web', 'apps/web', ...words]);
    expect([exit, out, seen()]).toEqual([0, '', [['POST', '/resources', { name: 'web', from: 'apps/web', inputs }]]]);
  });

  test('create uploads a folder of this machine first', async () => {
    await writeFile(join(folder, 'meta.yaml'), 'version: 1.0.0\n');
    const name = folder.split('/').at(-1);
    api.on(`POST ${BASE}/repositories`, always(201, { name: 'resources' }));
    api.on(`PUT ${BASE}/repositories/resources/definitions/${name}/1.0.0`, always(201, {}));
    api.on(`POST ${BASE}/resources`, always(201, { name: 'web' }));
    expect((await run(['resource', 'create', 'web', folder])).exit).toBe(0);
    expect(seen().at(-1)).toEqual([
      'POST',
      '/resources',
      { name: 'web', from: `resources/${name}:==1.0.0`, inputs: {} },
    ]);
    const composer = await run(['resource', 'create', 'web', 'all.yaml']);
    expect([composer.exit, composer.err]).toEqual([2, expect.stringMatching(/not_supported.*composer/)]);
  });

  test('get shows own and resolved inputs with their sources, and what does not fit', async () => {
    const shown = {
      name: 'web',
      handler: 'shell',
      state: 'created',
      tags: ['zone='],
      actions: ['run'],
      committed: null,
    };
    const definition = { repository: 'apps', name: 'web', version: '1.0.0' };
    const values = { inputs: { host: 'own', n: 1 }, resolved: { host: 'there', n: 1 }, sources: [CONNECTION] };
    const mistakes = { n: ['must be text'] };
    api.on(`GET ${BASE}/resources/web`, always(200, { ...shown, definition, ...values, mistakes }));
    const { out } = await run(['resource', 'get', 'web']);
    expect(out).toContain('host   own  there  db::ip\n');
    expect(out).toContain('ERROR: web: {n: [must be text]}\n');
    expect(JSON.parse((await run(['resource', 'get', 'web', '-o', 'json'])).out)).toMatchObject(values);
  });

  test('update, tag, stage and remove make one request for each', async () => {
    api.on(`PATCH ${BASE}/resources/a%2Fb`, always(200, {}));
    api.on(`PUT ${BASE}/resources/a%2Fb/tags`, always(200, { tags: ['x='] }));
    api.on(`DELETE ${BASE}/resources/a%2Fb/tags`, always(200, { tags: [] }));
    api.on(`POST ${BASE}/resources/a%2Fb/stage`, always(200, { changes: [ITEM] }));
    api.on(`DELETE ${BASE}/resources/a%2Fb`, always(200, { name: 'a/b', removal: 'staged' }));
    api.on(`DELETE ${BASE}/resources/c`, always(200, { name: 'c', removal: 'deleted' }));
    expect((await run(['resource', 'update', 'a/b', 'v=1'])).exit).toBe(0);
    expect((await run(['resource', 'tag', 'a/b', 'x'])).out).toBe('x=\n');
    expect((await run(['resource', 'tag', 'a/b', 'x', '--delete'])).exit).toBe(0);
    expect((await run(['resource', 'stage', 'a/b', 'reload'])).out).toBe('log task=web.run uid=u1\n');
    expect((await run(['resource', 'remove', 'a/b', 'c', '-f'])).out).toBe(
      'a/b will be removed after committing\nc removed from database\n',
    );
    expect(seen()).toEqual([
      ['PATCH', '/resources/a%2Fb', { inputs: { v: 1 } }],
      ['PUT', '/resources/a%2Fb/tags', { tags: ['x'] }],
      ['DELETE', '/resources/a%2Fb/tags', { tags: ['x'] }],
      ['POST', '/resources/a%2Fb/stage', { action: 'reload' }],
      ['DELETE', '/resources/a%2Fb?force=true', undefined],
      ['DELETE', '/resources/c?force=true', undefined],
    ]);
  });

  test('list asks by tags, state and prefix', async () => {
    api.on(`GET ${BASE}/resources`, always(200, { resources: [], next: null }));
    const { err } = await run(['resource', 'list', '--tags', 'a=b|c', '--state', 'created', '--prefix', 'w']);
    expect(err).toBe('no resources\n');
    expect(new URLSearchParams(api.seen[0]?.url.split('?')[1])).toEqual(
      new URLSearchParams({ tags: 'a=b|c', state: 'created', prefix: 'w', limit: '1000' }),
    );
  });
});

describe('connection', () => {
  test.each([
    [['ip->host', 'ip -> env:HOST', 'port'], { ip: ['host', 'env:HOST'], port: ['port'] }],
    [['["ip"]'], ['ip']],
    [['{"ip": "host"}'], { ip: 'host' }],
    [['{}'], {}],
    [[], undefined],
  ])('add sends the mapping of %j', async (words, mapping) => {
    const connections = [CONNECTION, { ...CONNECTION, receiver_input: 'env', key: 'HOST' }];
    api.on(`POST ${BASE}/connections`, always(201, { connections, events: [EVENT] }));
    const { exit, out, err } = await run(['connection', 'add', 'db', 'web', ...words, '--events', 'reaction']);
    expect([exit, out, err]).toEqual([0, 'db::ip -> [web::host, web::env:HOST]\n', '1 event with it\n']);
    const body = { emitter: 'db', receiver: 'web', events: 'reaction', ...(mapping === undefined ? {} : { mapping }) };
    expect(api.seen[0]?.body).toEqual(body);
  });

  test.each([[['->x']], [['a->b->c']], [['[1', 'x']]])('add refuses %j', async (words) => {
    expect((await run(['connection', 'add', 'db', 'web', ...words])).exit).toBe(2);
    expect(api.seen).toEqual([]);
  });

  test('remove takes a pair, inputs of it, or an id', async () => {
    const id = '11111111-2222-4333-8444-555555555555';
    api.on(`POST ${BASE}/connections/delete`, always(200, { connections: [CONNECTION] }));
    api.on(`DELETE ${BASE}/connections/${id}`, always(204));
    expect((await run(['connection', 'remove', 'db', 'web', 'ip', '--keep-events'])).err).toBe(
      '1 connection removed\n',
    );
    expect((await run(['connection', 'remove', id])).exit).toBe(0);
    expect((await run(['connection', 'remove', 'db'])).exit).toBe(2);
    expect(seen()).toEqual([
      ['POST', '/connections/delete', { emitter: 'db', receiver: 'web', inputs: ['ip'], keep_events: true }],
      ['DELETE', `/connections/${id}`, undefined],
    ]);
  });

  test('list shows both ends', async () => {
    api.on(`GET ${BASE}/connections`, always(200, { connections: [CONNECTION], next: null }));
    expect((await run(['connection', 'list', '--emitter', 'db'])).out).toBe('FROM    TO\ndb::ip  web::host\n');
  });
});

describe('event', () => {
  const LINE = 'depends_on: a.run -> success -> b.run\n';

  test('add takes words, and all lines of a file', async () => {
    api.on(`POST ${BASE}/events`, always(201, EVENT));
    api.on(`POST ${BASE}/events/bulk`, always(201, { events: [EVENT, EVENT] }));
    expect((await run(['event', 'add', 'after', 'a.run', 'success', 'b.run'])).out).toBe(LINE);
    expect((await run(['event', 'add', 'after a.run success b.run'])).out).toBe(LINE);
    expect((await run(['event', 'add', '-f', '-'], 'one\ntwo\n')).out).toBe(LINE + LINE);
    expect((await run(['event', 'add'])).exit).toBe(2);
    expect(seen()).toEqual([
      ['POST', '/events', 'after a.run success b.run'],
      ['POST', '/events', 'after a.run success b.run'],
      ['POST', '/events/bulk', 'one\ntwo\n'],
    ]);
  });

  test('list shows lines, and ids where they are asked for', async () => {
    api.on(`GET ${BASE}/events`, always(200, { events: [EVENT], next: null }));
    expect((await run(['event', 'list', 'a'])).out).toBe(LINE);
    expect(api.seen[0]?.url).toContain('resource=a');
    expect((await run(['event', 'list', '-o', 'name'])).out).toBe('e1\n');
  });

  test('remove takes ids or conditions, and not both', async () => {
    api.on(`DELETE ${BASE}/events/e1`, always(204));
    api.on(`POST ${BASE}/events/delete`, always(200, { deleted: 2 }));
    expect((await run(['event', 'remove', 'e1'])).exit).toBe(0);
    expect((await run(['event', 'remove', '--child', 'b'])).err).toBe('2 events removed\n');
    for (const words of [[], ['e1', '--child', 'b']]) expect((await run(['event', 'remove', ...words])).exit).toBe(2);
    expect(seen()).toEqual([
      ['DELETE', '/events/e1', undefined],
      ['POST', '/events/delete', { child: 'b' }],
    ]);
  });
});

describe('change', () => {
  test('stage and list show a line for each item, or that there is none', async () => {
    const next = { limit: 1000, after_id: 'u1' };
    api.on(`POST ${BASE}/changes/stage`, always(200, { changes: [ITEM], next }));
    api.on(`GET ${BASE}/changes/staged`, always(200, { changes: [ITEM], next: null }));
    const { out } = await run(['change', 'stage', '--tags', 'zone=a', '--action', 'reload', '-d']);
    expect(out).toBe('log task=web.run uid=u1\n++ v: x\n'.repeat(2));
    expect(seen()).toEqual([
      ['POST', '/changes/stage', { tags: 'zone=a', action: 'reload' }],
      ['GET', '/changes/staged?after_id=u1&limit=1000', undefined],
    ]);
    expect((await run(['change', 'list'])).out).toBe('log task=web.run uid=u1\n');
    expect((await run(['change', 'list', '-o', 'name'])).out).toBe('u1\n');
    api.on(`GET ${BASE}/changes/staged`, always(200, { changes: [], next: null }));
    expect((await run(['change', 'list'])).out).toBe('No changes\n');
  });

  test('discard takes uids or --all', async () => {
    api.on(`POST ${BASE}/changes/discard`, always(200, { changes: [{ uid: 'u1', log_action: 'web.run' }] }));
    expect(await run(['change', 'discard', 'u1'])).toMatchObject({
      out: 'log task=web.run uid=u1\n',
      err: '1 change discarded\n',
    });
    expect((await run(['change', 'discard', '--all'])).exit).toBe(0);
    for (const words of [[], ['u1', '--all']]) expect((await run(['change', 'discard', ...words])).exit).toBe(2);
    expect(seen().map(([, , body]) => body)).toEqual([{ uids: ['u1'] }, { all: true }]);
  });

  test('history shows the last five, or as many as are wanted', async () => {
    api.on(`GET ${BASE}/changes/history`, always(200, { changes: [ITEM], next: null }));
    expect((await run(['change', 'history', '-d'])).out).toBe('log task=web.run uid=u1\n++ v: x\n');
    expect((await run(['change', 'history', '--short', '--limit', '7'])).out).toBe('u1\n');
    expect(api.seen.map(({ url }) => url.split('?')[1])).toEqual(['limit=5', 'limit=7']);
    api.on(`GET ${BASE}/changes/history`, always(200, { changes: [], next: null }));
    expect((await run(['change', 'history'])).out).toBe('No history\n');
  });
});

test('--dry-run shows requests and makes none', async () => {
  const commands = [
    ['resource', 'create', 'a', 'apps/web', 'v=1'],
    ['resource', 'remove', 'a'],
    ['connection', 'add', 'a', 'b', 'v'],
    ['event', 'add', 'on a.run any b.run'],
    ['change', 'stage'],
    ['change', 'discard', '--all'],
    ['repository', 'remove', 'apps'],
  ];
  for (const words of commands) {
    const { exit, out } = await run([...words, '--dry-run=request']);
    expect([exit, out]).toEqual([0, expect.stringMatching(/^(POST|DELETE) http/)]);
  }
  expect(api.seen).toEqual([]);
});
