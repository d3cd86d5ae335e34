import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { musterError } from '../../../domain/errors.ts';
import { isSessionName } from '../../../domain/sessions/naming.ts';
import { createTestApi, type TestApi } from '../../support/stack/test-api.ts';
import { addConfiguration, addResults, addRun, endSession, sessionId, setSession } from '../session-fixtures.ts';

let api: TestApi;
let kicks = 0;
const told: unknown[] = [];
let refusal: Error | null = null;
beforeAll(async () => {
  const tell = async (...what: unknown[]) => {
    told.push(what);
    if (refusal !== null) throw refusal;
  };
  api = await createTestApi({
    temporalUiUrl: 'http://127.0.0.1:8103',
    dispatcher: { kick: () => void kicks++ },
    engine: {
      finishDebug: (id) => tell('finish', id),
      retryInPlace: (id, hosts) => tell('retry', id, hosts),
      pokeQueue: async () => undefined,
    },
  });
  await addConfiguration(api.deps.db, 'web', 3);
});
afterAll(() => api.close());
beforeEach(() => {
  told.length = 0;
  refusal = null;
});

let count = 0;
async function make(body: Record<string, unknown> = {}): Promise<{ name: string; id: string }> {
  const name = (body.name as string | undefined) ?? `s-${++count}`;
  const answer = await api.call('POST', '/v3/sessions', { configuration_name: 'web', ...body, name });
  expect(answer.status).toBe(201);
  return { name, id: await sessionId(api.deps.db, name) };
}
/** A session that ended false in layer 1, where h2 failed and h3 was left incomplete. */
async function makeFailed(body: Record<string, unknown> = {}): Promise<{ name: string; id: string }> {
  const session = await make(body);
  const { db } = api.deps;
  await addRun(db, session.id, {
    layer: 0,
    exitCode: 0,
    results: ['h1', 'h2', 'h3'].map((host) => ({ host, status: 'applied' })),
  });
  await addRun(db, session.id, {
    layer: 1,
    exitCode: 2,
    results: [
      { host: 'h1', status: 'applied' },
      { host: 'h2', status: 'failed' },
      { host: 'h3', status: 'incomplete' },
    ],
  });
  await endSession(db, session.id, 'false');
  return session;
}
const hold = (id: string) =>
  setSession(api.deps.db, id, { stage: 'admitted', status: 'running', phase: 'hold', layer: 1 });
const command = (name: string, what: string, body?: unknown) =>
  api.call('POST', `/api/v1/sessions/${name}/${what}`, body);
const detail = async (name: string) => (await api.call('GET', `/api/v1/sessions/${name}`)).body;

describe('detail', () => {
  test('of a waiting session has its place in the queue', async () => {
    await api.call('DELETE', '/v3/sessions?status=');
    const [first, second] = [await make(), await make()];
    expect(await detail(first.name)).toMatchObject({ queue: { place: 1 }, phase: 'queued', attempts: [] });
    expect((await detail(second.name)).queue).toEqual({ place: 2 });
    await command(first.name, 'cancel');
    expect((await detail(second.name)).queue).toEqual({ place: 1 });
  });

  test('of an ended one has attempts, counts, hosts and links', async () => {
    const { name, id } = await makeFailed();
    const answer = await detail(name);
    expect(answer).toMatchObject({
      id,
      phase: 'done',
      queue: null,
      cancel: null,
      retry_of: null,
      retried_by: [],
      counts: { ok: 5, failed: 1, changed: 0 },
      hosts: { applied: 1, failed: 1, incomplete: 1 },
      links: {
        self: `http://127.0.0.1:8100/api/v1/sessions/${name}`,
        temporal: `http://127.0.0.1:8103/namespaces/default/workflows/session%2F${name}%2F${id}`,
      },
    });
    expect(
      answer.attempts.map((run: Record<string, unknown>) => [run.layer, run.attempt, run.state, run.exit_code]),
    ).toEqual([
      [0, 1, 'ended', 0],
      [1, 1, 'ended', 2],
    ]);
    expect(answer.snapshot.layers).toHaveLength(3);
  });

  test('has the reason of the engine', async () => {
    const { name, id } = await make();
    await setSession(api.deps.db, id, { reason: 'disk_low', message: 'waiting for disk space' });
    expect((await detail(name)).reason).toEqual({ code: 'disk_low', message: 'waiting for disk space' });
  });

  test.each(['', '/events', '/logs', '/hosts', '/progress'])('GET %s of an unknown session is 404', async (path) => {
    const answer = await api.call('GET', `/api/v1/sessions/ghost${path}`);
    expect(answer.body).toMatchObject({ status: 404, code: 'session_not_found' });
  });
});

describe('cancel', () => {
  test('is accepted once and again, with the reason in the record', async () => {
    const { name, id } = await make();
    const before = kicks;
    const answer = await command(name, 'cancel', { reason: 'wrong limit' });
    expect(answer.status).toBe(202);
    expect(answer.body.cancel).toEqual({
      requested_at: api.now.value.toISOString(),
      reason: 'cancelled: wrong limit',
      actor: null,
    });
    expect(answer.body.status.session).toMatchObject({ status: 'pending', message: 'is being cancelled: wrong limit' });
    expect(kicks).toBe(before + 1);
    expect((await command(name, 'cancel', { reason: 'again' })).body.cancel.reason).toBe('cancelled: wrong limit');
    const messages = await api.deps.db.selectFrom('outbox').select('kind').where('session_id', '=', id).execute();
    expect(messages.map(({ kind }) => kind)).toEqual(['start', 'cancel']);
  });
  test('needs no body', async () => {
    const { name } = await make();
    expect((await command(name, 'cancel')).body.cancel.reason).toBe('cancelled');
  });
  test('of a complete session is a conflict', async () => {
    const { name } = await makeFailed();
    expect((await command(name, 'cancel')).body).toMatchObject({ status: 409, code: 'session_complete' });
  });
  test.each([['{'], [[]], [{ reason: 5 }], [{ why: 'x' }], [{ reason: 'x'.repeat(501) }], ['"x"'], ['null ']])(
    'the body %j is a bad request',
    async (body) => {
      const { name, id } = await make();
      expect((await command(name, 'cancel', body)).status).toBe(400);
      const row = await api.deps.db.selectFrom('sessions').select('cancel_reason').where('id', '=', id).execute();
      expect(row).toEqual([{ cancel_reason: null }]);
    },
  );
  test('of an unknown session is 404', async () => expect((await command('ghost', 'cancel')).status).toBe(404));
});

describe('finish-debug', () => {
  test('reaches the engine while the session holds', async () => {
    const { name, id } = await make();
    await hold(id);
    expect((await command(name, 'finish-debug')).status).toBe(202);
    expect(told).toEqual([['finish', id]]);
  });
  test('of a session that does not hold is a conflict', async () => {
    const { name } = await make();
    expect((await command(name, 'finish-debug')).body).toMatchObject({ status: 409, code: 'session_not_holding' });
    const ended = await makeFailed();
    expect((await command(ended.name, 'finish-debug')).body).toMatchObject({ code: 'session_not_holding' });
    expect(told).toEqual([]);
  });
  test('a refusal of the engine comes through', async () => {
    const { name, id } = await make();
    await hold(id);
    refusal = musterError('engine_unavailable', 'no answer');
    expect((await command(name, 'finish-debug')).body).toMatchObject({ status: 503, code: 'engine_unavailable' });
  });
});

describe('retry of a session that holds', () => {
  test.each([
    [undefined, 'all'],
    [{}, 'all'],
    [{ hosts: 'all' }, 'all'],
    [{ hosts: 'failed' }, 'failed'],
  ])('%j goes on in place for %s', async (body, hosts) => {
    const { name, id } = await make();
    await hold(id);
    const answer = await command(name, 'retry', body);
    expect([answer.status, answer.body.name]).toEqual([202, name]);
    expect(told).toEqual([['retry', id, hosts]]);
  });
  test('takes no name', async () => {
    const { name, id } = await make();
    await hold(id);
    expect((await command(name, 'retry', { name: 'other' })).body).toMatchObject({ status: 400, code: 'bad_request' });
    expect(told).toEqual([]);
  });
});

describe('retry of a complete session', () => {
  test('for the failed hosts makes a new, linked one from the failed layer on', async () => {
    const original = await makeFailed({
      tags: { team: 'red' },
      ansible_limit: 'h1,h2,h3',
      ansible_verbosity: 2,
      ansible_passthrough: '-f 5',
      debug_on_failure: true,
    });
    await setSession(api.deps.db, original.id, {
      snapshot: JSON.stringify({
        ...(await detail(original.name)).snapshot,
        ansible_config: 'pinned',
      }),
    });
    await api.call('DELETE', '/v3/configurations/web-gone');
    const before = kicks;
    const answer = await command(original.name, 'retry', { hosts: 'failed' });
    expect(answer.status).toBe(201);
    const { body } = answer;
    expect(body.name).toMatch(new RegExp(`^retry-[0-9a-f]{8}-${original.name}$`));
    expect(body).toMatchObject({
      configuration: { name: 'web', limit: '1,2' },
      ansible: { limit: 'h2,h3', verbosity: 2, passthrough: '-f 5' },
      tags: { team: 'red', 'muster.retry-of': original.name },
      debug_on_failure: true,
      retry_of: { id: original.id, name: original.name },
      status: { session: { status: 'pending', succeeded: 'none', job: null } },
      phase: 'queued',
    });
    expect(body.snapshot.ansible_config).toBe('pinned');
    expect(body.snapshot.layers.map((layer: { index: number; commit: string }) => [layer.index, layer.commit])).toEqual(
      [
        [1, '1'.repeat(40)],
        [2, '2'.repeat(40)],
      ],
    );
    expect(kicks).toBe(before + 1);
    expect((await detail(original.name)).retried_by).toEqual([{ id: body.id, name: body.name }]);
    const messages = await api.deps.db.selectFrom('outbox').select('kind').where('session_id', '=', body.id).execute();
    expect(messages).toEqual([{ kind: 'start' }]);
  });

  test('for all keeps the limit and may have a name', async () => {
    const original = await makeFailed({ ansible_limit: 'h*' });
    const answer = await command(original.name, 'retry', { hosts: 'all', name: `again-${original.name}` });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ name: `again-${original.name}`, ansible: { limit: 'h*' } });
  });

  test('the configuration may have changed or gone meanwhile', async () => {
    await addConfiguration(api.deps.db, 'passing', 2);
    const { name, id } = await make({ configuration_name: 'passing' });
    await endSession(api.deps.db, id, 'false');
    expect((await api.call('DELETE', '/v3/configurations/passing')).status).toBe(204);
    expect((await command(name, 'retry')).body.snapshot.layers).toHaveLength(2);
  });

  test('a retry of a retry is named after the root', async () => {
    const root = await makeFailed({ name: 'batcher-5e0c2b4e-2f0a-4d57-9f3e-0f6a3c6f0d11' });
    const first = (await command(root.name, 'retry')).body;
    expect(first.name).toMatch(/^retry-[0-9a-f]{8}-5e0c2b4e-2f0a-4d57-9f3e-0f6a3c$/);
    expect(isSessionName(first.name)).toBe(true);
    await endSession(api.deps.db, first.id, 'false');
    await api.call('DELETE', `/v3/sessions/${root.name}`);
    const second = (await command(first.name, 'retry')).body;
    expect(second.name).toMatch(/^retry-[0-9a-f]{8}-5e0c2b4e-2f0a-4d57-9f3e-0f6a3c$/);
    expect(second.tags['muster.retry-of']).toBe(first.name);
  });

  test('hosts of a run without results count as failed, those of an earlier good attempt do not', async () => {
    const { db } = api.deps;
    const { name, id } = await make();
    await addRun(db, id, {
      layer: 0,
      exitCode: 2,
      results: [
        { host: 'a', status: 'failed' },
        { host: 'b', status: 'applied' },
      ],
    });
    await addRun(db, id, { layer: 0, attempt: 2, exitCode: 0, results: [{ host: 'a', status: 'applied' }] });
    await addRun(db, id, { layer: 1, attempt: 2, exitCode: null, results: [{ host: 'c', status: 'applied' }] });
    await endSession(db, id, 'unknown');
    const answer = await command(name, 'retry', { hosts: 'failed' });
    expect(answer.body).toMatchObject({ configuration: { limit: '1,2' }, ansible: { limit: 'c' } });
  });

  test('without a failed host: nothing for failed, everything for all', async () => {
    const { name, id } = await make();
    for (const layer of [0, 1, 2]) {
      await addRun(api.deps.db, id, { layer, exitCode: 0, results: [{ host: 'a', status: 'applied' }] });
    }
    await endSession(api.deps.db, id, 'true');
    expect((await command(name, 'retry', { hosts: 'failed' })).body).toMatchObject({
      status: 409,
      code: 'nothing_failed',
    });
    const all = await command(name, 'retry', { hosts: 'all' });
    expect(all.body.snapshot.layers).toHaveLength(3);
  });

  test('one without layers has nothing to run again', async () => {
    const { name, id } = await make({ configuration_limit: 'nothing' });
    await endSession(api.deps.db, id, 'false');
    expect((await command(name, 'retry')).body).toMatchObject({ code: 'no_layer_selected' });
  });

  test('a name that is taken is a conflict', async () => {
    const original = await makeFailed();
    for (const name of [original.name, (await make()).name]) {
      expect((await command(original.name, 'retry', { name })).body).toMatchObject({
        status: 409,
        code: 'session_exists',
      });
    }
  });

  test('of 10 with one name at once, one is made', async () => {
    const original = await makeFailed();
    const wanted = { name: `only-${original.name}` };
    const answers = await Promise.all(Array.from({ length: 10 }, () => command(original.name, 'retry', wanted)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
  });

  test('one that works, or is still being ended, is not complete', async () => {
    const { name, id } = await make();
    expect((await command(name, 'retry')).body).toMatchObject({ status: 409, code: 'session_not_complete' });
    await setSession(api.deps.db, id, { stage: 'admitted', status: 'running', phase: 'layer' });
    expect((await command(name, 'retry')).body).toMatchObject({ code: 'session_not_complete' });
    await api.call('PATCH', `/v3/sessions/${name}`, { status: { session: { status: 'complete' } } });
    expect((await command(name, 'retry')).body).toMatchObject({ code: 'session_not_complete' });
  });

  test.each([[{ hosts: 'some' }], [{ hosts: null }], [{ name: 'A' }], [{ name: '' }], [{ x: 1 }], ['['], [[]]])(
    'the body %j is a bad request',
    async (body) => expect((await command((await makeFailed()).name, 'retry', body)).status).toBe(400),
  );
});

describe('state of hosts and progress', () => {
  test('hosts by name, page by page, the running layer included', async () => {
    const { name, id } = await makeFailed();
    await setSession(api.deps.db, id, { stage: 'admitted', status: 'running', phase: 'layer' });
    await addResults(api.deps.db, { id, layer: 2 }, [
      { host: 'h1', task: 't', result: 'changed' },
      { host: 'h4', task: 't', result: 'unreachable' },
    ]);
    const first = await api.call('GET', `/api/v1/sessions/${name}/hosts?limit=3`);
    expect(first.body.hosts.map((host: { host: string; result: string }) => [host.host, host.result])).toEqual([
      ['h1', 'running'],
      ['h2', 'failed'],
      ['h3', 'incomplete'],
    ]);
    expect(
      first.body.hosts[0].layers.map((layer: Record<string, unknown>) => [layer.layer, layer.status, layer.changed]),
    ).toEqual([
      [0, 'applied', 0],
      [1, 'applied', 0],
      [2, 'running', 1],
    ]);
    expect(first.body.next).toEqual({ limit: 3, after: 'h3' });
    const second = await api.call('GET', `/api/v1/sessions/${name}/hosts?limit=3&after=h3`);
    expect(second.body).toMatchObject({ hosts: [{ host: 'h4', result: 'running' }], next: null });
  });

  test('progress counts what came, and goes on from there', async () => {
    const { name, id } = await make();
    await setSession(api.deps.db, id, {
      stage: 'admitted',
      status: 'running',
      phase: 'layer',
      layer: 0,
      message: 'runs',
    });
    await addResults(api.deps.db, { id, layer: 0 }, [
      { host: 'a', task: 't', result: 'ok' },
      { host: 'b', task: 't', result: 'failed' },
    ]);
    const progress = async () => (await api.call('GET', `/api/v1/sessions/${name}/progress`)).body;
    expect(await progress()).toMatchObject({
      name,
      phase: 'layer',
      layer: 0,
      layers_total: 3,
      message: 'runs',
      hosts: { seen: 2, failed: 1 },
      counts: { ok: 1, failed: 1 },
      elapsed: 0,
      seq: 2,
    });
    api.now.value = new Date(api.now.value.getTime() + 5_000);
    await addResults(api.deps.db, { id, layer: 0, firstLine: 3 }, [{ host: 'c', task: 't', result: 'skipped' }]);
    expect(await progress()).toMatchObject({ hosts: { seen: 3 }, counts: { ok: 1, skipped: 1 }, elapsed: 5, seq: 3 });
  });

  test.each(['limit=0', 'limit=1001', 'limit=x'])('hosts?%s is a bad request', async (query) => {
    const { name } = await make();
    expect((await api.call('GET', `/api/v1/sessions/${name}/hosts?${query}`)).status).toBe(400);
  });
});
