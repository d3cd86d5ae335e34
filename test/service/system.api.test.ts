/** Whether Muster itself is well, as a page and `muster doctor` show it. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());

const system = async (of: TestApi) => (await of.call('GET', '/api/v1/system')).body;
const check = (body: { checks: { name: string }[] }, name: string) => body.checks.find((one) => one.name === name);

describe('the system', () => {
  test('has what the status has, processes, queues, numbers, disk, database, and checks', async () => {
    const [body, { body: status }] = [await system(api), await api.call('GET', '/api/v1/status')];
    expect(Object.keys(body)).toEqual(expect.arrayContaining(Object.keys(status)));
    expect(body.database).toMatchObject({ ok: true, reason: null, schema: expect.stringMatching(/^\d{4}-/) });
    expect([body.database.size > 0, body.database.connections > 0, body.database.max_connections > 0]).toEqual([
      ...[true, true, true],
    ]);
    expect(body.processes).toEqual([expect.objectContaining({ kind: 'api', version: status.versions.muster })]);
    expect(body.queues.map(({ name }: { name: string }) => name)).toEqual([
      'main',
      'own',
      'sessions',
      'outbox',
      'webhooks',
    ]);
    expect(body.gauges).toMatchObject({ event_lag_seconds: 0, outbox_length: 0 });
    expect(body.disk).toMatchObject({ free: expect.any(Number), size: expect.any(Number), low: expect.any(Boolean) });
    expect(check(body, 'database')).toMatchObject({ ok: true, fix: null });
  });

  test('says what mends what is not well, also without Temporal', async () => {
    const other = await createTestApi({
      engineHealth: async () => ({ ok: false, reason: 'no answer' }),
      readWorkers: () => Promise.reject(new Error('away')),
      readQueues: () => Promise.reject(new Error('away')),
    });
    try {
      await other.call('POST', '/api/v1/stop', { reason: 'the cooling fails' });
      const body = await system(other);
      expect(check(body, 'engine')).toMatchObject({
        ok: false,
        detail: 'no answer',
        fix: expect.stringMatching(/Temporal/),
      });
      expect(check(body, 'workers')).toMatchObject({ ok: false, detail: 'not known' });
      expect(check(body, 'stop')).toMatchObject({ ok: false, fix: expect.stringContaining('./muster go') });
      expect(body.queues.map(({ name }: { name: string }) => name)).toEqual(['sessions', 'outbox', 'webhooks']);
    } finally {
      await other.close();
    }
  });
});
