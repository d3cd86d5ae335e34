/** Boots in the database: which ways of writing tell them, and what old sessions then report (cfs-flows 8.13). */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import { importComponents } from '../../control/components/import-components.ts';
import { patchComponent, patchComponents } from '../../control/components/patch-components.ts';
import { patchComponentsByFilter } from '../../control/components/patch-components-by-filter.ts';
import { putComponent, putComponents } from '../../control/components/put-components.ts';
import { recordLayer } from '../../control/components/record-layer.ts';
import type { ComponentBody } from '../../domain/components/schema.ts';
import type { HostStatus } from '../../domain/runs/schema.ts';
import { insertHostResults } from '../../store/runs/host-results.ts';
import { ensureRun } from '../../store/runs/runs.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { COMMIT, makeSession } from '../support/temporal/engine-sessions.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const NOW = new Date('2026-11-21T10:00:00Z');
const at = (minutes: number) => new Date(NOW.getTime() + minutes * 60_000);
const deps = (now = NOW) => ({ db: database.db, clock: () => now, log: { warn: () => undefined } });
const NOBODY = { actor: null };
const report = (boot: string): ComponentBody => ({ state: [], enabled: true, muster: { boot } });
const rowOf = (id: string) =>
  database.db.selectFrom('components').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

/** The same patch of one component in the three forms that there are. */
const FORMS: Record<string, (id: string, body: ComponentBody, now: Date) => Promise<unknown>> = {
  single: (id, body, now) => patchComponent(deps(now), NOBODY, id, body),
  list: (id, body, now) => patchComponents(deps(now), NOBODY, [{ ...body, id }], () => null),
  filter: (id, patch, now) => patchComponentsByFilter(deps(now), NOBODY, { patch, filters: { ids: id } }),
};

/** A session of ours, let in at a time, or still waiting. */
async function session(admitted: Date | null, made = at(-60)) {
  const { id, name } = await makeSession(database.db);
  const stage = admitted === null ? 'queued' : 'admitted';
  await database.db
    .updateTable('sessions')
    .set({ admitted_at: admitted, created_at: made, stage })
    .where('id', '=', id)
    .execute();
  return { id, name };
}

describe.each(Object.entries(FORMS))('a patch, %s', (_, patch) => {
  test('tells of a boot once, and of the next one again', async () => {
    const id = randomUUID();
    await putComponent(deps(), NOBODY, id, { error_count: 3 });
    expect(await rowOf(id)).toMatchObject({ boot: null, booted_at: null });
    await patch(id, report('b1'), at(1));
    expect(await rowOf(id)).toMatchObject({ boot: 'b1', booted_at: at(1), error_count: 0, enabled: true });
    await patch(id, { state_append: { clone_url: 'u', playbook: 'p', commit: 'c_failed' }, error_count: 1 }, at(2));
    await patch(id, report('b1'), at(3));
    expect(await rowOf(id)).toMatchObject({
      boot: 'b1',
      booted_at: at(1),
      error_count: 1,
      state: [{ status: 'failed' }],
    });
    await patch(id, report('b2'), at(4));
    expect(await rowOf(id)).toMatchObject({ boot: 'b2', booted_at: at(4), error_count: 0, state: [] });
    await patch(id, { enabled: false, state: [] }, at(5));
    expect(await rowOf(id)).toMatchObject({ boot: 'b2', booted_at: at(4), enabled: false });
  });

  test.each([
    ['let in before the boot', at(-5), at(-60), 'incomplete', 0],
    ['let in after the boot', at(5), at(-60), 'failed', 4],
    ['made before the boot and never let in', null, at(-60), 'incomplete', 0],
    ['made after the boot and never let in', null, at(1), 'failed', 4],
  ])('of a session %s', async (_, admitted, made, status, errors) => {
    const id = randomUUID();
    await putComponent(deps(), NOBODY, id, {});
    await patch(id, report('b'), NOW);
    const { name } = await session(admitted, made);
    const state_append = { clone_url: 'u', playbook: 'p', commit: 'c_failed', session_name: name };
    await patch(id, { state_append, error_count: 4 }, at(10));
    expect(await rowOf(id)).toMatchObject({
      state: [{ commit: 'c', status, session_name: name }],
      error_count: errors,
    });
  });

  test('of a session that is none of ours, or that was deleted, is as CFS has it', async () => {
    const gone = await session(at(-5));
    await database.db.updateTable('sessions').set({ deleted_at: NOW }).where('id', '=', gone.id).execute();
    for (const session_name of ['elsewhere', gone.name, '']) {
      const id = randomUUID();
      await putComponent(deps(), NOBODY, id, { muster: { boot: 'b' } });
      const state_append = { clone_url: 'u', playbook: 'p', commit: 'c', session_name };
      await patch(id, { state_append, error_count: 0 }, at(10));
      expect((await rowOf(id)).state).toMatchObject([{ status: 'applied' }]);
    }
  });

  test('that tells of a boot without the state is refused and changes nothing', async () => {
    const id = randomUUID();
    await putComponent(deps(), NOBODY, id, {});
    await expect(patch(id, { muster: { boot: 'b' }, enabled: true }, at(1))).rejects.toMatchObject({
      code: 'bad_request',
    });
    expect(await rowOf(id)).toMatchObject({ boot: null, enabled: false });
  });
});

describe.each(Object.entries(FORMS))("the report of CFS's own reporter, %s", (form, patch) => {
  test('is a boot where a reporter sends it; a person patches by filter', async () => {
    const id = randomUUID();
    await putComponent(deps(), NOBODY, id, { error_count: 3 });
    await patch(id, { state: [], enabled: true }, at(1));
    const isBoot = form !== 'filter';
    expect(await rowOf(id)).toMatchObject({
      boot: null,
      booted_at: isBoot ? at(1) : null,
      error_count: 0,
      enabled: true,
    });
    await patch(id, { state: [] }, at(2));
    await patch(id, { enabled: true }, at(3));
    expect(await rowOf(id)).toMatchObject({ booted_at: isBoot ? at(1) : null });
    const { name } = await session(at(-5));
    const state_append = { clone_url: 'u', playbook: 'p', commit: 'c', session_name: name };
    await patch(id, { state_append, error_count: 0 }, at(10));
    expect((await rowOf(id)).state).toMatchObject([{ status: isBoot ? 'incomplete' : 'applied' }]);
    await patch(id, { state: [], enabled: true }, at(11));
    expect(await rowOf(id)).toMatchObject({ booted_at: isBoot ? at(11) : null, state: [] });
  });
});

test('any patches do the same one by one, in one list, and by filter', async () => {
  const before = await session(at(-5));
  const later = await session(at(5));
  const append = fc
    .tuple(fc.constantFrom('c', 'c_failed'), fc.constantFrom(before.name, later.name, 'elsewhere'))
    .map(([commit, session_name]) => ({ clone_url: 'u', playbook: 'p', commit, session_name }));
  const step = fc.oneof(
    fc.constantFrom('a', 'b').map((boot): ComponentBody => ({ state: [], muster: { boot } })),
    fc.record(
      { state_append: append, error_count: fc.integer({ min: 0, max: 3 }) },
      { requiredKeys: ['state_append'] },
    ),
    fc.record({ state: fc.constant([]), state_append: append, muster: fc.constant({ boot: 'c' }) }),
    fc.constantFrom<ComponentBody>({ enabled: true }, { state: [] }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      const ids = ['single', 'list', 'filter'].map((form) => `${form}-${randomUUID()}`);
      const [single = '', list = '', filter = ''] = ids;
      await putComponents(
        deps(),
        NOBODY,
        ids.map((id) => ({ id, error_count: 2 })),
      );
      for (const body of steps) await patchComponent(deps(), NOBODY, single, body as ComponentBody);
      await patchComponents(
        deps(),
        NOBODY,
        steps.map((body) => ({ ...(body as ComponentBody), id: list })),
        () => null,
      );
      for (const patch of steps) {
        await patchComponentsByFilter(deps(), NOBODY, { patch: patch as ComponentBody, filters: { ids: filter } });
      }
      const [one, two, three] = await Promise.all(
        ids.map(async (id) => {
          const { boot, booted_at, state, error_count, enabled } = await rowOf(id);
          return { boot, booted_at, state, error_count, enabled };
        }),
      );
      expect(two).toEqual(one);
      expect(three).toEqual(one);
    }),
    { numRuns: 60 },
  );
});

describe('a PUT', () => {
  test.each([
    ['one', (id: string, body: ComponentBody, now: Date) => putComponent(deps(now), NOBODY, id, body)],
    ['of a list', (id: string, body: ComponentBody, now: Date) => putComponents(deps(now), NOBODY, [{ ...body, id }])],
  ])('%s tells of another boot, keeps the time of the same, and of none', async (_, put) => {
    const id = randomUUID();
    await put(id, {}, at(0));
    expect(await rowOf(id)).toMatchObject({ boot: null, booted_at: null });
    await put(id, { muster: { boot: 'b1' } }, at(1));
    expect(await rowOf(id)).toMatchObject({ boot: 'b1', booted_at: at(1) });
    await put(id, { muster: { boot: 'b1' } }, at(2));
    expect(await rowOf(id)).toMatchObject({ boot: 'b1', booted_at: at(1) });
    await put(id, {}, at(3));
    expect(await rowOf(id)).toMatchObject({ boot: null, booted_at: at(1) });
    await put(id, { muster: { boot: 'b2' } }, at(4));
    expect(await rowOf(id)).toMatchObject({ boot: 'b2', booted_at: at(4) });
    const fresh = randomUUID();
    await put(fresh, { muster: { boot: 'b1' } }, at(5));
    expect(await rowOf(fresh)).toMatchObject({ boot: 'b1', booted_at: at(5) });
  });
});

test('an import leaves the boot that the node told here, takes one from there, and is the same the second time', async () => {
  const [known, foreign] = [randomUUID(), randomUUID()];
  await putComponent(deps(), NOBODY, known, { muster: { boot: 'b1' } });
  const records = [
    { id: known, state: [], enabled: true },
    { id: foreign, state: [], muster: { boot: 'b9' } },
  ];
  const mode = { dryRun: false, keep: false, enable: true };
  await importComponents(deps(at(1)), NOBODY, records, mode);
  expect(await rowOf(known)).toMatchObject({ boot: 'b1', booted_at: NOW, enabled: true });
  expect(await rowOf(foreign)).toMatchObject({ boot: 'b9', booted_at: at(1) });
  const again = await importComponents(deps(at(2)), NOBODY, records, mode);
  expect(again.map(({ outcome }) => outcome)).toEqual(['equal', 'equal']);
});

describe('what a run reports', () => {
  /** A run of the session with one result a host, recorded. */
  async function record(of: { id: string; name: string }, results: Record<string, HostStatus>) {
    const place = { layer: 0, attempt: 1 };
    const runId = `${of.id}-1-0`;
    await ensureRun(database.db, { id: runId, sessionId: of.id, streamId: of.id, host: 'h', ...place }, new Date());
    const counts = { ok: 1, changed: 0, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
    const hosts = Object.entries(results).map(([host, status]) => ({ host, status, ...counts }));
    await insertHostResults(database.db, { runId, sessionId: of.id, ...place }, hosts);
    const layer = { cloneUrl: 'u', playbook: 'site.yml', commit: COMMIT };
    await recordLayer(database.db, { runId, streamId: of.id, ...place, sessionName: of.name, ...layer }, new Date());
    const events = await database.db.selectFrom('events').select('data').where('stream_id', '=', of.id).execute();
    return events.map(({ data }) => data.message);
  }

  test('is incomplete, and counts nothing, where the component booted after the session was let in; the event names it', async () => {
    const of = await session(at(-5));
    const ids = { booted: 'applied', broken: 'failed', stayed: 'applied', early: 'failed' } as const;
    const names = Object.fromEntries(Object.keys(ids).map((key) => [key, `${key}-${randomUUID()}`]));
    const name = (key: string) => names[key] ?? '';
    for (const key of Object.keys(ids)) await putComponent(deps(), NOBODY, name(key), { error_count: 2 });
    for (const key of ['booted', 'broken']) await patchComponent(deps(), NOBODY, name(key), report('b'));
    await patchComponent(deps(at(-10)), NOBODY, name('early'), report('b'));
    for (const key of Object.keys(ids)) await patchComponent(deps(), NOBODY, name(key), { error_count: 2 });
    const results = Object.fromEntries(Object.entries(ids).map(([key, status]) => [name(key), status]));
    const messages = await record(of, results);
    const reached = async (key: string) => {
      const { state, error_count } = await rowOf(name(key));
      return [state.map(({ status }) => status), error_count];
    };
    expect(await reached('booted')).toEqual([['incomplete'], 2]);
    expect(await reached('broken')).toEqual([['incomplete'], 2]);
    expect(await reached('stayed')).toEqual([['applied'], 0]);
    expect(await reached('early')).toEqual([['failed'], 3]);
    expect(messages).toEqual([
      `recorded as incomplete, booted since the session began: ${name('booted')}, ${name('broken')}`,
    ]);
    const kept = await database.db
      .selectFrom('host_results')
      .select(['host', 'status', 'recorded'])
      .where('session_id', '=', of.id)
      .execute();
    expect(Object.fromEntries(kept.map(({ host, status }) => [host, status]))).toEqual(results);
    expect(kept.every(({ recorded }) => recorded)).toBe(true);
  });

  test('that waits for a boot is incomplete', async () => {
    const id = randomUUID();
    await putComponent(deps(), NOBODY, id, {});
    const of = await session(at(-5));
    const { waiting } = await database.db.transaction().execute(async (trx) => {
      await trx.updateTable('components').set({ boot: 'b', booted_at: NOW }).where('id', '=', id).execute();
      const recording = record(of, { [id]: 'applied' });
      await eventually('the record waits', async () => {
        const { rows } = await sql`select 1 from pg_locks where not granted and transactionid is not null
          and pid in (select pid from pg_stat_activity where datname = current_database())`.execute(database.db);
        return rows.length > 0;
      });
      return { waiting: recording };
    });
    await waiting;
    expect((await rowOf(id)).state).toMatchObject([{ status: 'incomplete' }]);
  });
});
