import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { importComponents } from '../../control/components/import-components.ts';
import { patchComponent, patchComponents } from '../../control/components/patch-components.ts';
import { patchComponentsByFilter } from '../../control/components/patch-components-by-filter.ts';
import {
  putComponent,
  putComponents,
  type WriteComponentsDependencies,
} from '../../control/components/put-components.ts';
import { findComponentVersion, updateComponentVersion } from '../../store/components/component-version.ts';
import { findComponent } from '../../store/components/components.ts';
import { reportLayer } from '../../store/components/report-layer.ts';
import { insertHostResults } from '../../store/runs/host-results.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  deps = { db: database.db, clock: () => NOW };
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.db.deleteFrom('components').execute();
});

const NOW = new Date('2026-11-21T10:00:00Z');
const as = (actor: string | null) => ({ actor });
let deps: WriteComponentsDependencies;
const actors = async () => {
  const rows = await database.db.selectFrom('components').select(['id', 'actor']).orderBy('id').execute();
  return Object.fromEntries(rows.map((row) => [row.id, row.actor]));
};

test('every write stores who asked', async () => {
  await putComponents(deps, as('ann'), [{ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' }, { id: 'e' }]);
  await putComponent(deps, as('ben'), 'b', {});
  await patchComponent(deps, as('cid'), 'c', { enabled: true });
  expect(await patchComponents(deps, as('dan'), [{ id: 'd', enabled: true }], ({ enabled }) => enabled)).toEqual([
    true,
  ]);
  expect(await actors()).toEqual({ a: 'ann', b: 'ben', c: 'cid', d: 'dan', e: 'ann' });
  await patchComponentsByFilter(deps, as('eve'), { patch: { tags: { t: '1' } }, filters: { ids: 'e,d' } });
  expect(await actors()).toEqual({ a: 'ann', b: 'ben', c: 'cid', d: 'eve', e: 'eve' });
  await patchComponent(deps, as(null), 'e', { enabled: true });
  expect((await actors()).e).toBeNull();
});

test('what a session records is stored with its name', async () => {
  await putComponent(deps, as('ann'), 'a', {});
  const counts = { ok: 1, changed: 0, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
  const run = { runId: 'r', sessionId: null, layer: 0, attempt: 1 };
  await insertHostResults(database.db, run, [{ host: 'a', status: 'applied', ...counts }]);
  const report = { sessionName: 'night', cloneUrl: 'u', playbook: 'p', commit: 'c', runId: 'r', now: NOW };
  expect(await reportLayer(database.db, report)).toEqual([{ id: 'a', hasBooted: false }]);
  expect(await actors()).toEqual({ a: 'session/night' });
});

test('a version is good for one write, also of another writer', async () => {
  await putComponent(deps, as(null), 'a', {});
  const first = await findComponentVersion(database.db, 'a');
  const again = await findComponentVersion(database.db, 'a');
  if (first === undefined || again === undefined) throw new Error('no component');
  expect(again).toEqual(first);
  const update = { now: NOW, actor: null, members: new Set(['error_count'] as const) };
  const changed = { ...first, component: { ...first.component, error_count: 1 } };
  expect(await updateComponentVersion(database.db, changed, update)).toBe(true);
  expect(await updateComponentVersion(database.db, changed, update)).toBe(false);
  await database.db.deleteFrom('components').execute();
  expect(await updateComponentVersion(database.db, changed, update)).toBe(false);
});

test('a patch that waits for another one adds to it', async () => {
  await putComponent(deps, as(null), 'a', {});
  const patched = await database.db.transaction().execute(async (trx) => {
    await trx.updateTable('components').set({ tags: '{"first":"1"}' }).where('id', '=', 'a').execute();
    const waiting = patchComponent(deps, as(null), 'a', { tags: { second: '2' } });
    await someoneWaits();
    return { waiting };
  });
  expect((await patched.waiting).tags).toEqual({ first: '1', second: '2' });
  expect((await findComponent(database.db, 'a'))?.tags).toEqual({ first: '1', second: '2' });
});

test('a patch that waits for a delete is 404', async () => {
  await putComponent(deps, as(null), 'a', {});
  const { waiting } = await database.db.transaction().execute(async (trx) => {
    await trx.deleteFrom('components').where('id', '=', 'a').execute();
    const patch = patchComponent(deps, as(null), 'a', { enabled: true });
    const refusal = patch.then(
      () => null,
      (error: { code: string }) => error.code,
    );
    await someoneWaits();
    return { waiting: refusal };
  });
  expect(await waiting).toBe('component_not_found');
});

test('a filter judges again what it waited for, and goes on behind what was deleted meanwhile', async () => {
  const ids = Array.from({ length: 2_500 }, (_, index) => `c${String(index).padStart(4, '0')}`);
  await putComponents(
    deps,
    as(null),
    ids.map((id) => ({ id })),
  );
  const { waiting } = await database.db.transaction().execute(async (trx) => {
    await trx.deleteFrom('components').where('id', '=', 'c0000').execute();
    await trx
      .updateTable('components')
      .set({ state: '[{"clone_url":"u","playbook":"p","commit":"c","status":"applied"}]' })
      .where('id', '=', 'c0001')
      .execute();
    const patch = patchComponentsByFilter(deps, as(null), {
      patch: { enabled: true },
      filters: { status: 'unconfigured' },
    });
    await someoneWaits();
    return { waiting: patch };
  });
  expect(await waiting).toEqual(ids.slice(2));
  const enabled = await database.db.selectFrom('components').select('id').where('enabled', '=', true).execute();
  expect(enabled).toHaveLength(2_498);
});

test('a failure in the middle of a bulk write leaves nothing of it', async () => {
  const ids = Array.from({ length: 2_100 }, (_, index) => `c${String(index).padStart(4, '0')}`);
  await putComponents(
    deps,
    as('ann'),
    ids.map((id) => ({ id })),
  );
  await database.db.schema
    .alterTable('components')
    .addCheckConstraint('no_more', sql`not (id = 'c2050' and enabled)`)
    .execute();
  const bodies = ids.map((id) => ({ id, enabled: true }));
  await expect(patchComponents(deps, as('ben'), bodies, ({ id }) => id)).rejects.toThrow('no_more');
  await expect(putComponents(deps, as('ben'), bodies)).rejects.toThrow('no_more');
  await expect(patchComponentsByFilter(deps, as('ben'), { patch: { enabled: true }, filters: {} })).rejects.toThrow(
    'no_more',
  );
  expect(new Set(Object.values(await actors()))).toEqual(new Set(['ann']));
  await database.db.schema.alterTable('components').dropConstraint('no_more').execute();
});

/** Until a statement of this database waits for a lock. */
async function someoneWaits(): Promise<void> {
  await eventually('a statement waits for a lock', async () => {
    const { rows } = await sql<{ waits: boolean }>`
      select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock') as waits
    `.execute(database.db);
    return rows[0]?.waits ?? false;
  });
}

test.each([
  ['a list', (records: object[]) => putComponents(deps, as('ann'), records)],
  [
    'an import',
    (records: object[]) => importComponents(deps, as('ann'), records, { dryRun: false, keep: false, enable: true }),
  ],
])(
  '%s takes its locks in the order of ids, however long it is: two of them never wait in a circle',
  async (_, write) => {
    // More than one statement writes.
    const records = ['a', ...Array.from({ length: 2_500 }, (_, n) => `z${n}`)]
      .reverse()
      .map((id) => ({ id, state: [] }));
    const { db } = database;
    const writing = await db.transaction().execute(async (trx) => {
      await putComponent({ ...deps, db: trx }, as('ben'), 'a', {});
      const waiting = write(records);
      await eventually('it waits for the first one', async () => {
        const { rows } = await sql`select 1 from pg_locks where not granted and transactionid is not null
        and pid in (select pid from pg_stat_activity where datname = current_database())`.execute(db);
        return rows.length > 0;
      });
      await db.transaction().execute(async (other) => {
        await sql`set local lock_timeout = '200ms'`.execute(other);
        for (const id of ['z0', 'z2499']) await putComponent({ ...deps, db: other }, as('cid'), id, {});
      });
      return { waiting };
    });
    await writing.waiting;
    expect(Object.values(await actors()).filter((actor) => actor === 'ann')).toHaveLength(records.length);
  },
);
