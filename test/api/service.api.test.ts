import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { openDatabase } from '../../store/connection/database.ts';
import { freePort } from '../support/free-port.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());

describe('health', () => {
  test('is 200 when all is well', async () => {
    for (const path of ['/healthz', '/apis/cfs/healthz']) {
      const answer = await api.call('GET', path);
      expect([answer.status, answer.body]).toEqual([200, { db_status: 'ok', kafka_status: 'ok' }]);
    }
  });
  test('is 503 when the engine is away, and says why in the status', async () => {
    const other = await createTestApi({ engineHealth: async () => ({ ok: false, reason: 'no server' }) });
    const answer = await other.call('GET', '/healthz');
    expect([answer.status, answer.body]).toEqual([503, { db_status: 'ok', kafka_status: 'not_available' }]);
    const { engine, workers } = (await other.call('GET', '/api/v1/status')).body;
    expect([engine, workers]).toEqual([{ ok: false, reason: 'no server' }, null]);
    await other.close();
  });
  test('the status says that no worker is there, and answers when the engine does not say who is', async () => {
    const none = { ok: false, reason: 'no worker has asked for work', count: 0 };
    const other = await createTestApi({ readWorkers: async () => none });
    expect((await other.call('GET', '/api/v1/status')).body.workers).toEqual(none);
    expect((await other.call('GET', '/healthz')).status).toBe(200);
    await other.close();
    const silent = await createTestApi({ readWorkers: () => Promise.reject(new Error('deadline')) });
    const answer = await silent.call('GET', '/api/v1/status');
    expect([answer.status, answer.body.workers]).toEqual([200, null]);
    await silent.close();
  });
  test('is 500 when both answer and this process is not set up', async () => {
    const setup = { ok: false, reason: 'no disk' };
    const other = await createTestApi({ setup: () => setup });
    const answer = await other.call('GET', '/healthz');
    expect([answer.status, answer.body]).toEqual([500, { db_status: 'ok', kafka_status: 'ok' }]);
    expect((await other.call('GET', '/api/v1/status')).body.setup).toEqual(setup);
    await other.close();
  });
  test('does not need the options', async () => {
    const other = await createTestApi();
    await sql`drop table options`.execute(other.database.db);
    expect((await other.call('GET', '/healthz')).status).toBe(200);
    await other.close();
  });
  test('does not wait for an engine that does not answer', async () => {
    const other = await createTestApi({ engineHealth: () => new Promise(() => undefined) });
    expect((await other.call('GET', '/healthz')).body.kafka_status).toBe('not_available');
    await other.close();
  });
});

describe('probes', () => {
  test('a process that is set up is ready, without the engine too', async () => {
    const other = await createTestApi({ engineHealth: async () => ({ ok: false, reason: 'no server' }) });
    for (const path of ['/livez', '/readyz']) {
      const answer = await other.call('GET', path);
      expect([answer.status, answer.body]).toEqual([200, { ok: true, reason: null }]);
    }
    await other.close();
  });
  test('one that is not set up, or stops, lives and is not ready', async () => {
    const other = await createTestApi({ setup: () => ({ ok: false, reason: 'it is stopping' }) });
    expect((await other.call('GET', '/livez')).status).toBe(200);
    const answer = await other.call('GET', '/readyz');
    expect([answer.status, answer.body]).toEqual([503, { ok: false, reason: 'it is stopping' }]);
    await other.close();
  });
});

describe('without a database', () => {
  let port: number;
  let away: TestApi;
  beforeAll(async () => {
    port = await freePort();
    away = await createTestApi({ db: openDatabase({ url: `postgres://nobody@127.0.0.1:${port}/none` }) });
  });
  afterAll(async () => {
    await away.close();
    await away.deps.db.destroy();
  });

  test.each([
    ['GET', '/v3/options'],
    ['GET', '/v3/components?limit=5000'],
    ['GET', '/v3/components/x'],
    ['GET', '/v3/configurations'],
    ['GET', '/v3/sources'],
    ['PUT', '/v3/components/x', {}],
    ['PATCH', '/v3/components', { patch: {}, filters: {} }],
    ['PUT', '/v3/configurations/x', { layers: [] }],
    ['DELETE', '/v3/sources/x'],
    ['GET', '/v3/sessions'],
  ] as [string, string, object?][])(
    '%s %s is 503 at once, with Retry-After',
    async (...[method, path, body]: [string, string, object?]) => {
      const answer = await away.call(method, path, body);
      expect(answer.body).toMatchObject({ status: 503, code: 'storage_unavailable', title: 'Service Unavailable' });
      expect(answer.headers['retry-after']).toBeDefined();
    },
  );
  test('health, status, versions and refusals still answer', async () => {
    expect((await away.call('GET', '/healthz')).body).toEqual({ db_status: 'not_available', kafka_status: 'ok' });
    const status = await away.call('GET', '/api/v1/status');
    expect([status.status, status.body.counts, status.body.database.ok]).toEqual([200, null, false]);
    expect((await away.call('GET', '/')).status).toBe(200);
    expect((await away.call('PUT', '/v3/components/x', { nope: 1 })).status).toBe(400);
  });
});

test('an unexpected error is 500, explained in the log only', async () => {
  const other = await createTestApi({
    secrets: { ...api.deps.secrets, list: () => Promise.reject(new TypeError('inner detail')) },
  });
  const answer = await other.call('GET', '/api/v1/secrets');
  expect(answer.body).toMatchObject({ status: 500, code: 'internal', title: 'Internal Server Error' });
  expect(JSON.stringify(answer.body)).not.toContain('inner detail');
  expect(other.logged).toContainEqual(
    expect.objectContaining({
      level: 50,
      err: expect.objectContaining({ stack: expect.stringContaining('inner detail') }),
    }),
  );
  await other.close();
});

test('the status counts what is there and links on', async () => {
  const other = await createTestApi({ temporalUiUrl: 'http://127.0.0.1:8103' });
  expect((await other.call('GET', '/api/v1/status')).body).toEqual({
    versions: { muster: '0.0.0-test', cfs: '1.31.1' },
    database: { ok: true, reason: null },
    engine: { ok: true, reason: null },
    setup: { ok: true, reason: null },
    workers: { ok: true, reason: null, count: 1 },
    counts: { sessions: { pending: 0, running: 0, complete: 0 }, queue: 0, active_runs: 0 },
    plans: { running: 0, paused: 0, open: [] },
    operators: { live: 0, reconciles_open: 0, due: 0 },
    // No worker has made a pass of it.
    batcher: expect.objectContaining({ state: 'late', open: 0, sent: 0, backoff: null }),
    stop: { stopped: false, since: null, actor: null, reason: null, complete: true },
    hardware_sync: null,
    notices: [],
    links: {
      docs: 'http://127.0.0.1:8100/docs',
      ui: 'http://127.0.0.1:8100/ui/',
      openapi: 'http://127.0.0.1:8100/openapi.json',
      temporal_ui: 'http://127.0.0.1:8103',
    },
  });
  await other.close();
});
