import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());

const make = (name: string) => api.call('PUT', `/v3/configurations/${name}`, { layers: [] });
const exists = async (name: string) => (await api.call('GET', `/v3/configurations/${name}`)).status === 200;

/** Ways in which a component comes to desire a configuration. */
const WRITES: [string, (id: string, name: string) => Promise<{ status: number }>][] = [
  ['PUT one', (id, desired_config) => api.call('PUT', `/v3/components/${id}`, { desired_config })],
  ['PATCH one', (id, desired_config) => api.call('PATCH', `/v3/components/${id}`, { desired_config })],
  ['PUT many', (id, desired_config) => api.call('PUT', '/v3/components', [{ id, desired_config }])],
  ['PATCH a list', (id, desired_config) => api.call('PATCH', '/v3/components', [{ id, desired_config }])],
  [
    'PATCH by filter',
    (ids, desired_config) => api.call('PATCH', '/v3/components', { patch: { desired_config }, filters: { ids } }),
  ],
];

test.each(WRITES)('%s: a write in front of the delete is seen, whenever it is committed', async (_title, write) => {
  await api.call('PUT', '/v3/components/early', {});
  await make('held');
  // Somebody's desire is written and not yet committed; ours comes behind it, and the delete between the two.
  const entered = Promise.withResolvers<void>();
  const leave = Promise.withResolvers<void>();
  const holding = api.database.db.transaction().execute(async (trx) => {
    await trx.updateTable('components').set({ desired_config: 'held' }).where('id', '=', 'early').execute();
    entered.resolve();
    await leave.promise;
  });
  await entered.promise;
  const removing = api.call('DELETE', '/v3/configurations/held');
  await waiting(1);
  const writing = write('early', 'held');
  await waiting(2);
  leave.resolve();
  await holding;
  expect((await removing).status).toBe(400);
  expect((await writing).status).toBe(200);
  expect(await exists('held')).toBe(true);
});

test.each(WRITES)('%s: a delete that was answered 204 came before every desire', async (_title, write) => {
  for (let round = 0; round < 12; round++) {
    await api.call('PUT', '/v3/components/racer', { desired_config: '' });
    await make('raced');
    /** Whether the configuration was still there when the write had been answered. */
    const desired = write('racer', 'raced').then(async ({ status }) => {
      expect(status).toBe(200);
      return exists('raced');
    });
    const [removed, wasThere] = await Promise.all([api.call('DELETE', '/v3/configurations/raced'), desired]);
    expect([removed.status, wasThere]).toEqual(removed.status === 204 ? [204, false] : [400, true]);
  }
});

test('a write of the configuration itself does not stop components from desiring it', async () => {
  await make('busy');
  const entered = Promise.withResolvers<void>();
  const leave = Promise.withResolvers<void>();
  const holding = api.database.db.transaction().execute(async (trx) => {
    await trx.updateTable('configurations').set({ actor: 'somebody' }).where('name', '=', 'busy').execute();
    entered.resolve();
    await leave.promise;
  });
  await entered.promise;
  expect((await api.call('PUT', '/v3/components/x', { desired_config: 'busy' })).status).toBe(200);
  leave.resolve();
  await holding;
});

/** Waits until so many statements wait for a lock. */
async function waiting(count: number): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(api.database.db);
    if ((rows[0]?.count ?? 0) >= count) return;
  }
}
