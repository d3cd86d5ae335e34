/** The vectors of the specification on the real engine and a real Postgres. */
import { afterAll } from '@jest/globals';
import { describeVectors } from './batcher-vectors.ts';
import type { BatcherWorld } from './batcher-world.ts';
import { layerOf, openRealBatcher, type RealBatcher } from './real-batcher.ts';

const opened: RealBatcher[] = [];
afterAll(() => Promise.all(opened.map((batcher) => batcher.close())));

describeVectors(async () => {
  const batcher = await openRealBatcher();
  opened.push(batcher);
  return worldOf(batcher);
});

function worldOf(batcher: RealBatcher): BatcherWorld {
  const { db } = batcher.database;
  const began = batcher.clock().getTime();
  const seconds = (time: Date) => (time.getTime() - began) / 1_000;
  const stateOf = async (id: string) =>
    db.selectFrom('components').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  return {
    setOptions: batcher.setOptions,
    configure: (name, layers) => batcher.configure(name, layers),
    put: (component) => batcher.put(component),
    setEnabled: async (id, enabled) => {
      await db.updateTable('components').set({ enabled }).where('id', '=', id).execute();
    },
    reach: async (id) => {
      const { desired_config } = await stateOf(id);
      const { record } = await db
        .selectFrom('configurations')
        .select('record')
        .where('name', '=', desired_config)
        .executeTakeFirstOrThrow();
      const state = record.layers.map((_, index) => ({
        ...layerOf(index),
        status: 'applied',
        session_name: 'by hand',
        last_updated: '2026-11-21T10:00:00Z',
      }));
      await db
        .updateTable('components')
        .set({ state: JSON.stringify(state), error_count: 0 })
        .where('id', '=', id)
        .execute();
    },
    pass: async (at) => void (await batcher.pass(at)),
    end: batcher.end,
    sessions: async () => {
      const rows = await db
        .selectFrom('sessions')
        .selectAll()
        .where('actor', '=', 'batcher')
        .orderBy('queue')
        .execute();
      return rows.map((row) => ({
        name: row.name,
        at: seconds(row.created_at),
        configuration: row.configuration_name,
        limit: row.configuration_limit,
        hosts: (row.ansible_limit ?? '').split(','),
        tags: Object.keys(row.tags).length === 0 ? undefined : row.tags,
        deletedAt: row.deleted_at === null ? null : seconds(row.deleted_at),
      }));
    },
    component: async (id) => {
      const { state, error_count } = await stateOf(id);
      const layers = state.map(({ playbook, status, session_name }) => ({
        layer: Number(playbook.slice('layer'.length, -'.yml'.length)),
        status,
        session: session_name,
      }));
      return { state: layers, errors: error_count };
    },
  };
}
