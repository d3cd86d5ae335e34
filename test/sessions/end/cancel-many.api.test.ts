/** Cancelling many sessions by one request. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../../support/stack/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  const layers = [{ clone_url: 'https://git.example.test/one.git', playbook: 'site.yml', commit: 'a'.repeat(40) }];
  expect((await api.call('PUT', '/v3/configurations/web', { layers })).status).toBe(200);
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.database.db.deleteFrom('outbox').execute();
  await api.database.db.deleteFrom('sessions').execute();
  for (const [name, tags] of [
    ['w1', { a: '1' }],
    ['w2', { a: '2' }],
    ['r1', { a: '1' }],
    ['done', { a: '1' }],
  ] as const) {
    expect((await api.call('POST', '/v3/sessions', { name, configuration_name: 'web', tags })).status).toBe(201);
  }
  const { db } = api.database;
  await db.updateTable('sessions').set({ stage: 'admitted', status: 'running' }).where('name', '=', 'r1').execute();
  await db.updateTable('sessions').set({ stage: 'ended', status: 'complete' }).where('name', '=', 'done').execute();
});

const cancel = (body: object) => api.call('POST', '/api/v1/sessions/cancel', body);
const rows = async () =>
  Object.fromEntries(
    (await api.database.db.selectFrom('sessions').selectAll().execute()).map((row) => [
      row.name,
      row.cancel_requested_at === null ? row.status : `${row.status}, ${row.message}`,
    ]),
  );

test('sessions that wait end at once, and the others are being cancelled; each once', async () => {
  const before = await rows();
  expect(await cancel({ status: ['pending', 'running'], reason: 'night' })).toMatchObject({
    status: 202,
    body: { cancelled: 3, ended: 2, complete: [], missing: [] },
  });
  expect(await rows()).toEqual({
    ...before,
    w1: 'complete, cancelled: night',
    w2: 'complete, cancelled: night',
    r1: 'running, is being cancelled: night',
  });
  const kept = await api.database.db.selectFrom('outbox').select('kind').where('kind', '=', 'cancel').execute();
  expect(kept).toHaveLength(3);
  expect((await cancel({ status: ['pending', 'running'] })).body).toMatchObject({ cancelled: 0, ended: 0 });
  const shown = (await api.call('GET', '/v3/sessions/w1')).body.status.session;
  expect(shown).toMatchObject({ status: 'complete', succeeded: 'false' });
  expect(Date.parse(shown.completion_time)).not.toBeNaN();
  const audit = await api.call('GET', '/api/v1/audit?action=cancel&kind=session');
  expect(audit.body.records).toHaveLength(3);
});

describe('by filter', () => {
  test.each<[object, object, string[]]>([
    [{ status: ['pending'] }, { cancelled: 2 }, ['w1', 'w2']],
    [{ status: ['running'] }, { cancelled: 1 }, ['r1']],
    [{ tags: 'a=1' }, { cancelled: 2, ended: 1 }, ['w1', 'r1']],
    [{ tags: 'a=1', status: ['pending'] }, { cancelled: 1 }, ['w1']],
    [{ names: ['w2', 'done', 'no'] }, { cancelled: 1, complete: ['done'], missing: ['no'] }, ['w2']],
    [{ names: ['w2'], tags: 'a=1' }, { cancelled: 0 }, []],
  ])('%j', async (body, answer, names) => {
    expect(await cancel(body)).toMatchObject({ status: 202, body: answer });
    const asked = Object.entries(await rows()).flatMap(([name, text]) => (text.includes('cancelled') ? [name] : []));
    expect(asked.sort()).toEqual([...names].sort());
  });

  test.each<[object, string]>([
    [{}, 'must say which sessions'],
    [{ reason: 'x' }, 'must say which sessions'],
    [{ status: ['complete'] }, 'status'],
    [{ names: [] }, 'names'],
    [{ tags: 'nonsense' }, 'nonsense'],
    [{ state: ['pending'] }, "'state'"],
  ])('%j is refused and changes nothing', async (body, words) => {
    const before = await rows();
    const answer = await cancel(body);
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toContain(words);
    expect(await rows()).toEqual(before);
  });
});
