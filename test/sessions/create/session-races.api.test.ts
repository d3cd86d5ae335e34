/** Clients that act on sessions at the same time (cfs-api 15.1, 15.3). */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../../support/stack/test-api.ts';
import { addConfiguration } from '../session-fixtures.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  await addConfiguration(api.deps.db, 'web');
});
afterAll(() => api.close());
afterEach(async () => {
  for (const table of ['sessions', 'outbox', 'streams'] as const) await api.deps.db.deleteFrom(table).execute();
});

const times = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));
const post = async (name: string, version = 'v3') => {
  const configuration = version === 'v3' ? { configuration_name: 'web' } : { configurationName: 'web' };
  return (await api.call('POST', `/${version}/sessions`, { name, ...configuration })).status;
};
const sorted = (codes: number[]) =>
  Object.fromEntries([...new Set(codes)].sort().map((code) => [code, codes.filter((other) => other === code).length]));
const rows = () => api.deps.db.selectFrom('sessions').select(['id', 'name', 'deleted_at']).execute();
const outbox = () => api.deps.db.selectFrom('outbox').select(['kind', 'session_id']).orderBy('id').execute();

test('of 50 equal creates one is taken, whatever version asks', async () => {
  const codes = await times(50, (index) => post('same', index % 2 === 0 ? 'v3' : 'v2'));
  const taken = codes.filter((code) => code !== 409);
  expect(taken).toHaveLength(1);
  expect([200, 201]).toContain(taken[0]);
  expect(await rows()).toHaveLength(1);
  expect(await outbox()).toHaveLength(1);
});

test('of 50 different creates all are taken', async () => {
  expect(sorted(await times(50, (index) => post(`s-${index}`)))).toEqual({ 201: 50 });
  expect(new Set((await outbox()).map((item) => item.session_id)).size).toBe(50);
});

test('creates and deletes of one name: each create that passed is one session, each delete ended one', async () => {
  const codes = await times(60, (index) =>
    index % 2 === 0 ? post('one') : api.call('DELETE', '/v3/sessions/one').then((answer) => answer.status),
  );
  const counts = sorted(codes);
  expect(Object.keys(counts).every((code) => ['201', '204', '404', '409'].includes(code))).toBe(true);
  const all = await rows();
  const live = all.filter((row) => row.deleted_at === null);
  expect(all).toHaveLength(counts[201] ?? 0);
  expect(all.length - live.length).toBe(counts[204] ?? 0);
  expect(live.length).toBeLessThanOrEqual(1);
  // Each has its own id; a delete has the work of just that one cancelled.
  const messages = await outbox();
  for (const { id, deleted_at } of all) {
    const kinds = messages.filter((item) => item.session_id === id).map((item) => item.kind);
    expect(kinds).toEqual(deleted_at === null ? ['start'] : ['start', 'cancel']);
  }
});

test('of deletes of one session at once one finds it', async () => {
  await post('one');
  const codes = await times(20, async () => (await api.call('DELETE', '/v3/sessions/one')).status);
  expect(sorted(codes)).toEqual({ 204: 1, 404: 19 });
  expect((await outbox()).map((item) => item.kind)).toEqual(['start', 'cancel']);
});

test('of jobs that are written at once one is taken, and nothing of the others', async () => {
  await post('one');
  const answers = await times(20, (index) =>
    api.call('PATCH', '/v3/sessions/one', {
      status: { session: { job: `cfs-${index}` }, artifacts: [{ image_id: String(index) }] },
    }),
  );
  expect(sorted(answers.map((answer) => answer.status))).toEqual({ 200: 1, 409: 19 });
  const winner = answers.findIndex((answer) => answer.status === 200);
  const { status } = (await api.call('GET', '/v3/sessions/one')).body;
  expect(status.session.job).toBe(`cfs-${winner}`);
  expect(status.artifacts).toEqual([{ image_id: String(winner) }]);
});

test('pages show every session that stays, once and in order, while others are deleted', async () => {
  const name = (index: number) => `p-${String(index).padStart(3, '0')}`;
  for (let from = 0; from < 200; from += 20) {
    expect(sorted(await times(20, (index) => post(name(from + index))))).toEqual({ 201: 20 });
  }
  const stay = (index: number) => index % 3 !== 0;
  const kept = Array.from({ length: 200 }, (_, index) => index)
    .filter(stay)
    .map(name);
  const seen: string[] = [];
  const walk = async () => {
    let query = 'limit=7';
    for (;;) {
      const { body } = await api.call('GET', `/v3/sessions?${query}`);
      seen.push(...body.sessions.map((session: { name: string }) => session.name));
      if (body.next === null) return;
      // As clients do: what is null is left out, everything else goes back as it came.
      query = Object.entries(body.next)
        .filter(([, value]) => value !== null)
        .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`)
        .join('&');
    }
  };
  const remove = async () => {
    for (let index = 0; index < 200; index++) {
      if (!stay(index)) await api.call('DELETE', `/v3/sessions/${name(index)}`);
    }
  };
  await Promise.all([walk(), remove()]);
  expect(seen).toEqual([...seen].sort());
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.filter((session) => kept.includes(session))).toEqual(kept);
});

test('a delete of many while sessions are made deletes what it names, and no other', async () => {
  await times(40, (index) => post(`old-${index}`));
  const [answer] = await Promise.all([
    api.call('DELETE', '/v3/sessions?status=pending&name_contains=old-'),
    times(40, (index) => post(`new-${index}`)),
  ]);
  expect(answer.body.session_ids).toHaveLength(40);
  const left = (await rows()).filter((row) => row.deleted_at === null);
  expect(left.map((row) => row.name).every((name) => name.startsWith('new-'))).toBe(true);
  expect(left).toHaveLength(40);
});
