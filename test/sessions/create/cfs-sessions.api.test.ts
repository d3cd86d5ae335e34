import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openDatabase } from '../../../store/connection/database.ts';
import { createTestApi, type TestApi } from '../../support/stack/test-api.ts';
import { addConfiguration, endSession, sessionId, setSession } from '../session-fixtures.ts';

let api: TestApi;
let kicks = 0;
beforeAll(async () => {
  api = await createTestApi({ dispatcher: { kick: () => void kicks++ } });
  await addConfiguration(api.deps.db, 'web', 3);
});
afterAll(() => api.close());

let count = 0;
const freshName = (start = 's') => `${start}-${++count}`;
const post = (body: unknown, headers?: Record<string, string>) => api.call('POST', '/v3/sessions', body, headers);
/** Creates a session and answers its name. */
async function make(body: Record<string, unknown> = {}): Promise<string> {
  const name = freshName();
  const answer = await post({ name, configuration_name: 'web', ...body });
  expect(answer.status).toBe(201);
  return name;
}
const outbox = async (id: string) =>
  (await api.deps.db.selectFrom('outbox').select('kind').where('session_id', '=', id).orderBy('id').execute()).map(
    (row) => row.kind,
  );

describe('create', () => {
  test('a session with only what is required', async () => {
    const before = kicks;
    const answer = await post({ name: 'first', configuration_name: 'web' });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      name: 'first',
      configuration: { name: 'web', limit: '' },
      ansible: { config: 'cfs-default-ansible-cfg', limit: '', verbosity: 0, passthrough: '' },
      target: { definition: 'dynamic', groups: null, image_map: null },
      status: {
        artifacts: [],
        session: {
          job: null,
          ims_job: null,
          start_time: '2026-11-21T10:00:00',
          completion_time: null,
          status: 'pending',
          succeeded: 'none',
          message: 'waiting for a session slot',
        },
      },
      tags: {},
      debug_on_failure: false,
      logs: 'http://127.0.0.1:8100/api/v1/sessions/first/logs',
    });
    expect(kicks).toBe(before + 1);
    const id = await sessionId(api.deps.db, 'first');
    expect(await outbox(id)).toEqual(['start']);
    const stream = await api.deps.db.selectFrom('streams').selectAll().where('id', '=', id).execute();
    expect(stream).toEqual([{ id, next_event: 1, next_chunk: 1 }]);
  });

  test('a session with everything', async () => {
    const body = {
      name: 'full.one',
      configuration_name: 'web',
      configuration_limit: 'l2,l0',
      ansible_limit: 'x1,x2',
      ansible_config: 'mine',
      ansible_verbosity: 4,
      ansible_passthrough: `-e '{"a": 1}'`,
      target: {
        definition: 'spec',
        groups: [{ name: 'g', members: ['h'], extra: 1 }],
        image_map: [{ source_id: 'a', result_name: 'b', extra: 1 }],
        extra: 1,
      },
      tags: { a: 'b' },
      debug_on_failure: true,
    };
    const answer = await post(body, { 'content-type': 'application/json; charset=utf-8' });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      configuration: { name: 'web', limit: 'l2,l0' },
      ansible: { config: 'mine', limit: 'x1,x2', verbosity: 4, passthrough: `-e '{"a": 1}'` },
      target: {
        definition: 'spec',
        groups: [{ name: 'g', members: ['h'] }],
        image_map: [{ source_id: 'a', result_name: 'b' }],
      },
      tags: { a: 'b' },
      debug_on_failure: true,
    });
    const row = await api.deps.db.selectFrom('sessions').select('snapshot').where('name', '=', 'full.one').execute();
    expect(row[0]?.snapshot.layers.map((layer) => [layer.index, layer.commit?.[0]])).toEqual([
      [0, '0'],
      [2, '2'],
    ]);
  });

  test('what the CLI clients of CFS send', async () => {
    await make({ target: { definition: 'dynamic', groups: [], image_map: [] } });
  });
  test('a debugging playbook without a configuration', async () => {
    await make({ configuration_name: 'debug_whatever' });
  });
  test('a limit that selects no layer, which fails later', async () => {
    await make({ configuration_limit: 'nothing' });
  });
  test('the same under the gateway prefix', async () => {
    const answer = await api.call('POST', '/apis/cfs/v3/sessions', { name: 'gateway', configuration_name: 'web' });
    expect(answer.status).toBe(201);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['no name', { name: undefined }, 'name'],
    ['a long name', { name: 'a'.repeat(46) }, 'name'],
    ['an upper-case name', { name: 'A' }, 'name'],
    ['a name with a path', { name: '../x' }, 'name'],
    ['a name with a line end', { name: 'a\n' }, 'name'],
    ['no configuration', { configuration_name: undefined }, 'configuration_name'],
    ['an empty configuration', { configuration_name: '' }, 'configuration_name'],
    ['a long configuration', { configuration_name: 'c'.repeat(61) }, 'configuration_name'],
    ['null', { tags: null }, 'tags'],
    ['null in place of text', { ansible_limit: null }, 'ansible_limit'],
    ['a blank in the limit', { ansible_limit: 'a b' }, 'ansible_limit'],
    ['a semicolon in the limit', { ansible_limit: 'a;b' }, 'ansible_limit'],
    ['a file as limit', { ansible_limit: 'a,@/etc/passwd' }, 'ansible_limit'],
    ['verbosity 5', { ansible_verbosity: 5 }, 'ansible_verbosity'],
    ['verbosity as text', { ansible_verbosity: '1' }, 'ansible_verbosity'],
    ['a member nobody knows', { configuration: 'x' }, 'configuration'],
    ['a member of v2', { debugOnFailure: true }, 'debugOnFailure'],
    ['tags that are no texts', { tags: { a: 1 } }, 'tags.a'],
    ['an unknown definition', { target: { definition: 'x' } }, 'target.definition'],
    ['groups for dynamic', { target: { groups: [{ name: 'a', members: ['b'] }] } }, 'target.groups'],
    ['a group without members', { target: { definition: 'spec', groups: [{ name: 'a' }] } }, 'members'],
    ['help', { ansible_passthrough: '-h' }, 'ansible_passthrough'],
    ['an open quote', { ansible_passthrough: '-e "x' }, 'ansible_passthrough'],
    ['another inventory', { ansible_passthrough: '--inventory=/etc/passwd' }, 'ansible_passthrough'],
  ])('%s is a bad request that names it', async (_name, change, named) => {
    const answer = await post({ name: freshName('bad'), configuration_name: 'web', ...change });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ title: 'Bad Request', detail: expect.stringContaining(named) });
  });

  test('checks come in the order of the contract', async () => {
    const name = await make();
    const wrongTarget = { definition: 'spec' };
    const taken = await post({ name, configuration_name: 'nope', target: wrongTarget, ansible_passthrough: '-h' });
    expect(taken.body).toMatchObject({ status: 409, title: 'Conflicting session name', code: 'session_exists' });
    expect(taken.body.detail).toBe(`A session with the name ${name} already exists`);
    const fresh = { name: freshName(), ansible_passthrough: '-h', target: wrongTarget };
    const unknown = await post({ ...fresh, configuration_name: 'nope' });
    expect(unknown.body).toMatchObject({ status: 400, title: 'Invalid configuration' });
    expect(unknown.body.detail).toBe('No configurations exist named nope');
    expect((await post({ ...fresh, configuration_name: 'web' })).body.detail).toContain('target.groups');
    expect((await post({ ...fresh, configuration_name: 'web', target: {} })).body.detail).toContain('passthrough');
  });

  test('of 50 equal creates one is taken', async () => {
    const name = freshName();
    const answers = await Promise.all(Array.from({ length: 50 }, () => post({ name, configuration_name: 'web' })));
    const codes = answers.map((answer) => answer.status);
    expect(codes.filter((code) => code === 201)).toHaveLength(1);
    expect(codes.filter((code) => code === 409)).toHaveLength(49);
    expect(await outbox(await sessionId(api.deps.db, name))).toEqual(['start']);
  });

  test('a refused create leaves nothing behind', async () => {
    const count = async () => {
      const { db } = api.deps;
      const tables = ['sessions', 'streams', 'outbox'] as const;
      return Promise.all(tables.map(async (table) => (await db.selectFrom(table).select('id').execute()).length));
    };
    const name = await make();
    const before = await count();
    await post({ name, configuration_name: 'web' });
    await post({ name: freshName(), configuration_name: 'nope' });
    await post({ name: freshName(), configuration_name: 'web', ansible_passthrough: '-h' });
    expect(await count()).toEqual(before);
  });
});

describe('read', () => {
  test('links to logs follow the options', async () => {
    const name = await make();
    await api.call('PATCH', '/v3/options', { include_ara_links: false });
    expect((await api.call('GET', `/v3/sessions/${name}`)).body.logs).toBeNull();
    await api.call('PATCH', '/v3/options', { include_ara_links: true });
    expect((await api.call('GET', `/v3/sessions/${name}`)).body.logs).toBe(
      `http://127.0.0.1:8100/api/v1/sessions/${name}/logs`,
    );
  });

  test.each(['nope', '..%2f..%2fetc', 'A', 'a%0a', 'a'.repeat(50), '%F0%9F%92%A9', "';drop table sessions--"])(
    'the name %j is not found, by every method',
    async (name) => {
      for (const method of ['GET', 'DELETE']) {
        const answer = await api.call(method, `/v3/sessions/${name}`);
        expect(answer.body).toMatchObject({ status: 404, title: 'Session not found.', code: 'session_not_found' });
      }
      expect((await api.call('PATCH', `/v3/sessions/${name}`, {})).status).toBe(404);
    },
  );

  test('the detail of a 404 names the session', async () => {
    expect((await api.call('GET', '/v3/sessions/ghost')).body.detail).toBe('Session ghost could not be found');
  });
  test('HEAD answers like GET, without body', async () => {
    const name = await make();
    const answer = await api.call('HEAD', `/v3/sessions/${name}`);
    expect([answer.status, answer.body]).toEqual([200, '']);
  });
});

describe('patch', () => {
  const patch = (name: string, body: unknown, headers?: Record<string, string>) =>
    api.call('PATCH', `/v3/sessions/${name}`, body, headers);

  test('nothing changes nothing', async () => {
    const name = await make();
    const answer = await patch(name, {});
    expect([answer.status, answer.body.status.session.status, answer.body.logs]).toEqual([200, 'pending', null]);
  });
  test('the content type does not matter', async () => {
    const name = await make();
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json']) {
      expect((await patch(name, '{"status":{"session":{"status":"running"}}}', { 'content-type': type })).status).toBe(
        200,
      );
    }
  });
  test.each(['', 'x', '{', '[]', '"x"', 'null', '5', '{"status":null}', '{"status":5}', '{"tags":{}}'])(
    'the body %j is a bad request',
    async (body) => expect((await patch(await make(), body)).status).toBe(400),
  );
  test('other members than status', async () => {
    const answer = await patch(await make(), { status: {}, name: 'x' });
    expect(answer.body.detail).toContain('Only status can be updated after session creation');
  });

  test('status moves forward and stays', async () => {
    const name = await make();
    const running = await patch(name, { status: { session: { status: 'running', job: 'j', ims_job: 'i' } } });
    expect(running.body.status.session).toMatchObject({ status: 'running', job: 'j', ims_job: 'i' });
    await patch(name, { status: { session: { status: 'pending' }, artifacts: [{ image_id: 'a' }] } });
    await patch(name, { status: { artifacts: [{ image_id: 'a' }, { image_id: 'b' }] } });
    const read = await api.call('GET', `/v3/sessions/${name}`);
    expect(read.body.status.session.status).toBe('running');
    expect(read.body.status.artifacts).toEqual([{ image_id: 'a' }, { image_id: 'b' }]);
  });

  test('a second job conflicts, and nothing of the patch counts', async () => {
    const name = await make();
    await patch(name, { status: { session: { job: 'j' } } });
    const answer = await patch(name, { status: { session: { job: 'j', status: 'complete' } } });
    expect(answer.body).toMatchObject({ status: 409, title: 'Session patch conflict.', code: 'session_job_conflict' });
    expect((await api.call('GET', `/v3/sessions/${name}`)).body.status.session.status).toBe('pending');
  });

  test('one that completes a live session cancels its work and keeps its own end', async () => {
    const name = await make();
    const id = await sessionId(api.deps.db, name);
    const before = kicks;
    const end = { status: 'complete', succeeded: 'true', completion_time: '2026-11-21T10:05:00' };
    expect((await patch(name, { status: { session: end } })).body.status.session).toMatchObject(end);
    expect(kicks).toBe(before + 1);
    expect(await outbox(id)).toEqual(['start', 'cancel']);
    await endSession(api.deps.db, id, 'false');
    expect((await api.call('GET', `/v3/sessions/${name}`)).body.status.session).toMatchObject(end);
    await patch(name, { status: { session: { status: 'complete' } } });
    expect(await outbox(id)).toEqual(['start', 'cancel']);
  });

  test('of concurrent patches none is lost', async () => {
    const name = await make();
    const ids = Array.from({ length: 20 }, (_, index) => `image-${index}`);
    await Promise.all(ids.map((image_id) => patch(name, { status: { artifacts: [{ image_id }] } })));
    const read = await api.call('GET', `/v3/sessions/${name}`);
    const stored = read.body.status.artifacts.map((artifact: { image_id: string }) => artifact.image_id);
    expect(stored.sort()).toEqual(ids.sort());
  });
});

describe('delete', () => {
  test('a session in any state; its name is free at once and its work is cancelled', async () => {
    const name = await make();
    const id = await sessionId(api.deps.db, name);
    await setSession(api.deps.db, id, { stage: 'admitted', status: 'running' });
    const answer = await api.call('DELETE', `/v3/sessions/${name}`);
    expect([answer.status, answer.body]).toEqual([204, '']);
    expect(await outbox(id)).toEqual(['start', 'cancel']);
    expect((await api.call('DELETE', `/v3/sessions/${name}`)).status).toBe(404);
    expect((await post({ name, configuration_name: 'web' })).status).toBe(201);
    const second = await sessionId(api.deps.db, name);
    expect(second).not.toBe(id);
    expect(await outbox(second)).toEqual(['start']);
  });

  test('one that has ended needs no cancel', async () => {
    const name = await make();
    const id = await sessionId(api.deps.db, name);
    await endSession(api.deps.db, id, 'true');
    await api.call('DELETE', `/v3/sessions/${name}`);
    expect(await outbox(id)).toEqual(['start']);
  });

  test('many at once, by each of two callers, each session once', async () => {
    const names = await Promise.all(Array.from({ length: 20 }, () => make({ tags: { batch: 'd' } })));
    const url = '/v3/sessions?status=&tags=batch=d';
    const answers = await Promise.all([api.call('DELETE', url), api.call('DELETE', url), api.call('DELETE', url)]);
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200]);
    expect(answers.flatMap((answer) => answer.body.session_ids).sort()).toEqual(names.sort());
    expect((await api.call('DELETE', url)).body).toEqual({ session_ids: [] });
  });

  test('complete ones only, unless a status is named', async () => {
    const [open, done] = [await make({ tags: { batch: 'e' } }), await make({ tags: { batch: 'e' } })];
    await endSession(api.deps.db, await sessionId(api.deps.db, done), 'false');
    expect((await api.call('DELETE', '/v3/sessions?tags=batch=e')).body).toEqual({ session_ids: [done] });
    expect((await api.call('DELETE', '/v3/sessions?tags=batch=e&status=pending')).body).toEqual({
      session_ids: [open],
    });
  });
});

test('when the database is away every route says so', async () => {
  const db = openDatabase({ url: 'postgres://nobody@127.0.0.1:1/none' });
  const away = await createTestApi({ db });
  for (const [method, url, body] of [
    ['POST', '/v3/sessions', { name: 'a', configuration_name: 'web' }],
    ['GET', '/v3/sessions', undefined],
    ['GET', '/v3/sessions/a', undefined],
    ['PATCH', '/v3/sessions/a', {}],
    ['DELETE', '/v3/sessions/a', undefined],
    ['DELETE', '/v3/sessions', undefined],
    ['GET', '/api/v1/sessions/a/events', undefined],
  ] as const) {
    const answer = await away.call(method, url, body);
    expect([url, answer.status]).toEqual([url, 503]);
  }
  await away.close();
  await db.destroy();
});
