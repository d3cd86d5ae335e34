/** The grid of the fleet, and what was configured by the hour. */
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { createGridReader } from '../../control/fleet/read-grid.ts';
import { countByHour, countGroups, type GridGrouping } from '../../store/fleet/grid.ts';
import { insertHostResults } from '../../store/runs/host-results.ts';
import { ensureRun, markRunRecorded } from '../../store/runs/runs.ts';
import { hostResult, sessionId } from '../sessions/session-fixtures.ts';
import { eventually } from '../support/eventually.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

const layers = [{ clone_url: 'https://git.example.test/one.git', playbook: 'site.yml', commit: 'a'.repeat(40) }];

let api: TestApi;
const now = new Date('2026-11-27T10:30:00Z');
beforeAll(async () => {
  api = await createTestApi({ clock: () => now });
  const send = async (method: string, path: string, body: unknown) => {
    const answer = await api.call(method, path, body);
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  };
  await send('PUT', '/v3/configurations/web', { layers });
  const component = (id: string, rack: string, more: object = {}) => ({
    id,
    desired_config: 'web',
    enabled: true,
    ...(rack === '' ? {} : { tags: { rack } }),
    ...more,
  });
  await send('PUT', '/v3/components', [
    component('n10', 'r1'),
    component('n2', 'r1', { enabled: false }),
    component('n1', 'r10', { error_count: 3, retry_policy: 3 }),
    component('n3', 'r2', { desired_config: '' }),
    component('n4', ''),
  ]);
  await send('POST', '/v3/sessions', { name: 's1', configuration_name: 'web' });
  const id = await sessionId(api.deps.db, 's1');
  await api.deps.db
    .insertInto('component_leases')
    .values({ component_id: 'n4', session_id: id, taken_at: now })
    .execute();
});
afterAll(() => api.close());

/** The grid is shared for a second: other groupings are read by themselves. */
const grid = async (query = '') => (await api.call('GET', `/api/v1/fleet/grid${query}`)).body;

describe('the grid', () => {
  test('has one cell a component, in natural order', async () => {
    expect(await grid()).toEqual({
      version: expect.stringMatching(/^[0-9a-f]{16}$/),
      total: 5,
      groups: [{ label: '', start: 0, count: 5 }],
      ids: ['n1', 'n2', 'n3', 'n4', 'n10'],
      status: 'fduPp',
    });
  });

  test('is grouped by a tag, or by what is desired', async () => {
    expect(await grid('?group=rack')).toMatchObject({
      groups: [
        { label: 'r1', start: 0, count: 2 },
        { label: 'r2', start: 2, count: 1 },
        { label: 'r10', start: 3, count: 1 },
        { label: '', start: 4, count: 1 },
      ],
      ids: ['n2', 'n10', 'n3', 'n1', 'n4'],
      status: 'dpufP',
    });
    const { groups } = await grid('?group=configuration');
    expect(groups).toEqual([
      { label: 'web', start: 0, count: 4 },
      { label: '', start: 4, count: 1 },
    ]);
    expect((await grid('?group=none-has-it')).groups).toEqual([{ label: '', start: 0, count: 5 }]);
  });

  test('of too many components has groups alone, counted by the database', async () => {
    const read = (by: GridGrouping, most: number) => createGridReader(api.deps.db, by, most)();
    expect(await read({ by: 'tag', tag: 'rack' }, 4)).toEqual({
      version: expect.stringMatching(/^[0-9a-f]{16}$/),
      total: 5,
      groups: [
        { label: 'r1', start: 0, count: 2 },
        { label: 'r2', start: 2, count: 1 },
        { label: 'r10', start: 3, count: 1 },
        { label: '', start: 4, count: 1 },
      ],
      ids: [],
      status: '',
    });
    expect(await read({ by: 'none' }, 4)).toMatchObject({ total: 5, groups: [{ label: '', start: 0, count: 5 }] });
    expect(await read({ by: 'configuration' }, 5)).toMatchObject({ total: 5, status: expect.stringMatching(/^.{5}$/) });
    expect(await countGroups(api.deps.db, { by: 'tag', tag: 'rack' }, 1)).toMatchObject({
      total: 5,
      groups: [{ count: 1 }],
    });
  });

  test('answers statuses alone, with the version of the places that they are in', async () => {
    const whole = await grid('?group=rack');
    expect(await grid('?group=rack&fields=status')).toEqual({
      version: whole.version,
      total: 5,
      status: whole.status,
    });
  });

  test('is compressed for who can read that', async () => {
    const answer = await api.app.inject({ url: '/api/v1/fleet/grid', headers: { 'accept-encoding': 'gzip, br' } });
    expect(answer.headers).toMatchObject({
      'content-encoding': 'gzip',
      vary: expect.stringContaining('accept-encoding'),
    });
    expect(JSON.parse(gunzipSync(answer.rawPayload).toString())).toEqual(await grid());
  });

  test('has another version when a cell moves, and the same when a status changes', async () => {
    const versionOf = async (group: string) => (await grid(`?group=${group}`)).version;
    const [before, moved] = [await versionOf('kind'), await versionOf('row')];
    await api.call('PATCH', '/v3/components/n10', { enabled: false });
    await eventually(
      'the status is read again',
      async () => (await grid('?group=kind&fields=status')).status === 'fduPd',
    );
    expect(await versionOf('kind')).toBe(before);
    await api.call('PATCH', '/v3/components/n10', { tags: { row: 'a' } });
    await eventually('the cell has moved', async () => (await versionOf('row')) !== moved);
  });

  test('refuses what it does not know', async () => {
    expect((await api.call('GET', '/api/v1/fleet/grid?fields=ids')).status).toBe(400);
    expect((await api.call('GET', '/api/v1/fleet/grid?group=')).status).toBe(400);
  });
});

test('by the hour it says what was configured and what failed', async () => {
  const id = await sessionId(api.deps.db, 's1');
  const run = async (attempt: number, at: Date, results: ['applied' | 'failed', boolean][]) => {
    const runId = `${id}-${attempt}-0`;
    await ensureRun(api.deps.db, { id: runId, sessionId: id, streamId: id, layer: 0, attempt, host: 'disk' }, at);
    const place = { runId, sessionId: id, layer: 0, attempt };
    await insertHostResults(
      api.deps.db,
      place,
      results.map(([status], index) => hostResult(`h${index}`, status)),
    );
    for (const [index, [, recorded]] of results.entries()) {
      await api.deps.db
        .updateTable('host_results')
        .set({ recorded })
        .where('run_id', '=', runId)
        .where('host', '=', `h${index}`)
        .execute();
    }
    await markRunRecorded(api.deps.db, runId, at);
  };
  await run(1, new Date('2026-11-27T10:10:00Z'), [
    ['applied', true],
    ['applied', true],
    ['failed', true],
    ['applied', false],
  ]);
  await run(2, new Date('2026-11-26T11:00:00Z'), [['failed', true]]);
  await run(3, new Date('2026-11-26T10:59:00Z'), [['failed', true]]);
  const { body } = await api.call('GET', '/api/v1/fleet/throughput');
  expect(body.as_of).toBe(now.toISOString());
  expect(body.hours).toHaveLength(24);
  expect(body.hours[23]).toEqual({ hour: '2026-11-27T10:00:00.000Z', configured: 2, failed: 1 });
  expect(body.hours[0]).toEqual({ hour: '2026-11-26T11:00:00.000Z', configured: 0, failed: 1 });
  const rest = body.hours.slice(1, 23) as { configured: number; failed: number }[];
  expect(rest.every(({ configured, failed }) => configured + failed === 0)).toBe(true);

  // Half an hour beside UTC hours are other ones.
  const inIndia = await api.deps.db.transaction().execute(async (trx) => {
    await sql`set local time zone 'Asia/Kolkata'`.execute(trx);
    return countByHour(trx, new Date('2026-11-27T10:00:00Z'));
  });
  expect(inIndia).toEqual([{ hour: new Date('2026-11-27T10:00:00Z'), configured: 2, failed: 1 }]);
});
