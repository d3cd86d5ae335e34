import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createSessionRecords } from '../../activities/sessions/activities.ts';
import { getDrift, listDrift } from '../../control/components/read-drift.ts';
import { recordDrift } from '../../control/components/record-drift.ts';
import { recordLayer } from '../../control/components/record-layer.ts';
import { takeExit } from '../../control/runs/take-exit.ts';
import { takeResults } from '../../control/runs/take-results.ts';
import { endSession } from '../../control/sessions/end-session.ts';
import type { Component } from '../../domain/components/schema.ts';
import { ResultsFileSchema, type TaskChange } from '../../domain/runs/schema.ts';
import type { SessionReason } from '../../domain/sessions/session-reason.ts';
import { countChecked } from '../../store/components/drift.ts';
import type { SessionRow } from '../../store/sessions/sessions.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { COMMIT, makeSession, signalClient, snapshotLayer } from '../support/temporal/engine-sessions.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const URL_ = 'https://git.test/plays.git';
const CHECK = { check: true } as const;
const applied = (playbook: string, commit = COMMIT) => ({
  clone_url: URL_,
  playbook,
  commit,
  status: 'applied' as const,
  session_name: 'before',
  last_updated: '2026-11-01T00:00:00Z',
});

/** A configuration of two layers, `site.yml` and `more.yml`. */
async function configure(name: string, commit = COMMIT): Promise<void> {
  const layers = ['site.yml', 'more.yml'].map((playbook) => ({ clone_url: URL_, playbook, commit }));
  const record = JSON.stringify({ name, last_updated: '2026-11-01T00:00:00Z', layers });
  await database.db
    .insertInto('configurations')
    .values({ name, record, updated_at: new Date(), actor: null })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ record }))
    .execute();
}

/** Components that have reached both layers, unless said otherwise. */
async function components(names: string[], given: Partial<Component> = {}): Promise<string[]> {
  const ids = names.map((name) => `${name}-${randomUUID().slice(0, 8)}`);
  for (const id of ids) {
    await database.db
      .insertInto('components')
      .values({
        id,
        desired_config: given.desired_config ?? 'web',
        error_count: given.error_count ?? 0,
        retry_policy: null,
        enabled: true,
        tags: '{}',
        state: JSON.stringify(given.state ?? [applied('site.yml'), applied('more.yml')]),
        updated_at: new Date(0),
        actor: 'somebody',
      })
      .execute();
  }
  return ids;
}

const stateOf = async (id: string) =>
  database.db
    .selectFrom('components')
    .select(['state', 'error_count', 'updated_at', 'actor'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

interface Found {
  changed?: number;
  unreachable?: number;
  status?: 'applied' | 'failed' | 'incomplete';
  changes?: TaskChange[];
}

/** A check session with one ended run of a layer that found this of its hosts, recorded. */
async function check(
  found: Record<string, Found>,
  over: { layer?: number; session?: SessionRow; configuration?: string; reconfigure?: boolean; part?: boolean } = {},
): Promise<{ session: SessionRow; record: Parameters<typeof recordDrift>[1] }> {
  const { db } = database;
  const { layer = 0, configuration = 'web' } = over;
  const layers = [snapshotLayer(0), snapshotLayer(1, { playbook: 'more.yml' })];
  const session =
    over.session ??
    (await makeSession(db, {
      configurationName: configuration,
      muster: { ...CHECK, ...(over.reconfigure ? { reconfigure: true } : {}) },
      snapshot: { layers, additional_inventory: null, debug_playbook: null, ansible_config: 'cfg' },
    }));
  const runId = `${session.id}-1-${layer}`;
  await db
    .insertInto('runs')
    .values({
      id: runId,
      session_id: session.id,
      stream_id: session.id,
      layer,
      attempt: 1,
      host: 'm',
      state: 'ended',
      created_at: new Date(),
    })
    .execute();
  for (const [host, { changes, status = 'applied', changed = 0, unreachable = 0 }] of Object.entries(found)) {
    await db
      .insertInto('host_results')
      .values({
        run_id: runId,
        session_id: session.id,
        layer,
        attempt: 1,
        host,
        status,
        ok: 3,
        changed,
        failures: status === 'failed' && unreachable === 0 ? 1 : 0,
        unreachable,
        skipped: 0,
        rescued: 0,
        ignored: 0,
        recorded: false,
        changes: changes ? JSON.stringify(changes) : null,
      })
      .execute();
  }
  const record = {
    runId,
    streamId: session.id,
    sessionId: session.id,
    sessionName: session.name,
    configuration,
    layer,
    attempt: 1,
    cloneUrl: URL_,
    playbook: layers[layer]?.playbook ?? '',
    commit: COMMIT,
    allLayers: over.part ? null : layers,
  };
  await recordDrift(db, record, new Date());
  return { session, record };
}

const end = (session: SessionRow, reason: SessionReason | null = null) =>
  endSession({ db: database.db, client: signalClient().client, clock: () => new Date() }, session.id, {
    succeeded: reason === null ? 'true' : 'false',
    message: 'checked',
    reason,
  });

const known = async (id: string) => getDrift(database.db, id).catch((error: { code?: string }) => error.code);
const pageOf = async (query: Parameters<typeof listDrift>[1]) => {
  const { batches, more } = await listDrift(database.db, query);
  const items = [];
  for await (const batch of batches) items.push(...batch);
  return { items, more: more() };
};

const CHANGE: TaskChange = { task: 'Write', action: 'copy', play: 'Web', file: 'site.yml:3', diff: '+a\n' };

describe('what a check records', () => {
  test('is the status of every component of the run and nothing of the component itself', async () => {
    const [same, drifted, failed, away, broken] = await components(['same', 'drifted', 'failed', 'away', 'broken']);
    const ids = [same, drifted, failed, away, broken] as string[];
    const before = await Promise.all(ids.map(stateOf));
    const { session, record } = await check({
      [same as string]: {},
      [drifted as string]: { changed: 2, changes: [CHANGE] },
      [failed as string]: { status: 'failed', changed: 1, changes: [CHANGE] },
      [away as string]: { status: 'failed', unreachable: 1 },
      [broken as string]: { status: 'incomplete' },
      nobody: { changed: 1 },
    });
    expect(await Promise.all(ids.map(stateOf))).toEqual(before);
    const details = await Promise.all(ids.map((id) => getDrift(database.db, id)));
    expect(details.map(({ status }) => status)).toEqual(['in_sync', 'drifted', 'failed', 'unreachable', 'failed']);
    expect(details[1]).toMatchObject({
      configuration: 'web',
      changed: 2,
      layers: [
        {
          layer: 0,
          clone_url: URL_,
          playbook: 'site.yml',
          commit: COMMIT,
          session_name: session.name,
          changes: [CHANGE],
          changes_left_out: 0,
        },
      ],
    });
    expect(await countChecked(database.db, session.id)).toEqual({ hosts: 6, drifted: 2, unclear: 3 });
    const events = await database.db.selectFrom('events').select('data').where('stream_id', '=', session.id).execute();
    expect(events.map(({ data }) => data.message)).toEqual(['not recorded, no such component: nobody']);
    await recordDrift(database.db, { ...record, sessionName: 'again' }, new Date());
    expect(await getDrift(database.db, drifted as string)).toEqual(details[1]);
    const kept = database.db.selectFrom('host_results').select('changes').where('run_id', '=', record.runId);
    expect((await kept.execute()).every(({ changes }) => changes === null)).toBe(true);
  });

  test('stands until the next check of the layer, or until the layer is run', async () => {
    const [id = ''] = await components(['x']);
    const first = await check({ [id]: { changed: 1 } });
    await check({ [id]: {} }, { layer: 1, session: first.session });
    expect((await getDrift(database.db, id)).layers.map(({ status }) => status)).toEqual(['drifted', 'in_sync']);
    await check({ [id]: {} });
    expect((await getDrift(database.db, id)).layers.map(({ status }) => status)).toEqual(['in_sync', 'in_sync']);

    const real = await makeSession(database.db);
    const runId = `${real.id}-1-0`;
    await database.db
      .insertInto('runs')
      .values({
        id: runId,
        session_id: real.id,
        stream_id: real.id,
        layer: 0,
        attempt: 1,
        host: 'm',
        state: 'ended',
        created_at: new Date(),
      })
      .execute();
    await database.db
      .insertInto('host_results')
      .values({
        run_id: runId,
        session_id: real.id,
        layer: 0,
        attempt: 1,
        host: id,
        status: 'applied',
        ok: 1,
        changed: 1,
        failures: 0,
        unreachable: 0,
        skipped: 0,
        rescued: 0,
        ignored: 0,
        recorded: false,
      })
      .execute();
    await recordLayer(
      database.db,
      {
        runId,
        streamId: real.id,
        layer: 0,
        attempt: 1,
        sessionName: real.name,
        cloneUrl: URL_,
        playbook: 'site.yml',
        commit: COMMIT,
      },
      new Date(),
    );
    expect((await getDrift(database.db, id)).layers.map(({ layer }) => layer)).toEqual([1]);
    await database.db.deleteFrom('components').where('id', '=', id).execute();
    expect(await known(id)).toBe('drift_not_found');
  });

  test('is of one configuration, and of the layers that it has', async () => {
    const [id = ''] = await components(['y']);
    const old = await check({ [id]: { changed: 1 } }, { configuration: 'old' });
    await check({ [id]: {} }, { layer: 1, session: old.session, configuration: 'old' });
    await check({ [id]: {} }, { part: true });
    expect(await getDrift(database.db, id)).toMatchObject({
      configuration: 'web',
      layers: [{ layer: 0, status: 'in_sync' }],
    });
  });
});

describe('a run that was executed elsewhere', () => {
  test('hands in what it found; no state comes of it', async () => {
    const { db } = database;
    const [id = ''] = await components(['remote']);
    const before = await stateOf(id);
    const session = await makeSession(db, { muster: CHECK });
    const runId = `${session.id}-1-0`;
    await db
      .insertInto('runs')
      .values({
        id: runId,
        session_id: session.id,
        stream_id: session.id,
        layer: 0,
        attempt: 1,
        host: 'm',
        state: 'started',
        created_at: new Date(),
      })
      .execute();
    const counts = { ok: 1, changed: 1, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
    const change = { ...CHANGE, diff: 'nul \u0000 and half a pair \ud800' };
    const results = ResultsFileSchema.parse({
      hosts: { [id]: { ...counts, status: 'applied', changes: [change], changes_left_out: 3, more: 'dropped' } },
      broken_off: false,
    });
    await takeResults(db, runId, results);
    await takeResults(db, runId, results);
    await takeExit({ db, clock: () => new Date() }, runId, { code: 0, signal: null, ended_at: '2026-11-21T10:00:00Z' });
    expect(await stateOf(id)).toEqual(before);
    const records = createSessionRecords({ db, clock: () => new Date() } as Parameters<typeof createSessionRecords>[0]);
    const input = { sessionId: session.id, layer: 0, attempt: 1 };
    expect(await records.recordLayer(input)).toEqual({ hosts: 1, drifted: 1, unclear: 0 });
    expect(await records.recordLayer(input)).toEqual({ hosts: 1, drifted: 1, unclear: 0 });
    expect(await stateOf(id)).toEqual(before);
    const [layer] = (await getDrift(db, id)).layers;
    expect(layer).toMatchObject({ status: 'drifted', changes_left_out: 3, session_name: session.name });
    expect(layer?.changes[0]?.diff).toBe('nul \ufffd and half a pair \ufffd');
  });

  test.each([
    ['more tasks than are kept', Array(51).fill(CHANGE)],
    ['a text that is too long', [{ ...CHANGE, diff: 'x'.repeat(8193) }]],
    ['a task without a name', [{ action: 'copy', play: 'p' }]],
  ])('with %s is refused', (_name, changes) => {
    const counts = { ok: 1, changed: 1, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
    const file = { hosts: { h: { ...counts, status: 'applied', changes } }, broken_off: false };
    expect(ResultsFileSchema.safeParse(file).success).toBe(false);
  });
});

describe('the list', () => {
  test('is paged by component, filtered by its worst layer, its configuration and ids', async () => {
    const ids = await components(['p1', 'p2', 'p3', 'p4']);
    const [one = '', two = '', three = '', four = ''] = ids;
    const { session } = await check(
      { [one]: { changed: 1 }, [two]: {}, [three]: { changed: 1 }, [four]: {} },
      { configuration: 'paged' },
    );
    await check(
      { [three]: { status: 'failed' }, [four]: { changed: 3 } },
      { layer: 1, session, configuration: 'paged' },
    );
    const config_name = 'paged';
    const names = ({ items }: { items: { id: string }[] }) => items.map(({ id }) => id);
    expect(names(await pageOf({ config_name }))).toEqual([...ids].sort());
    expect(names(await pageOf({ config_name, status: 'drifted' }))).toEqual([one, four].sort());
    expect(names(await pageOf({ config_name, status: 'failed' }))).toEqual([three]);
    expect(names(await pageOf({ config_name, status: 'in_sync' }))).toEqual([two]);
    expect(names(await pageOf({ config_name, status: 'unreachable' }))).toEqual([]);
    expect(names(await pageOf({ ids: `${two},${three},nobody`, status: '' }))).toEqual([two, three].sort());
    const sorted = [...ids].sort();
    const first = await pageOf({ config_name, limit: 3 });
    expect([names(first), first.more]).toEqual([sorted.slice(0, 3), true]);
    const last = await pageOf({ config_name, limit: 3, after_id: sorted[2] });
    expect([names(last), last.more]).toEqual([sorted.slice(3), false]);
    expect(first.items[0]?.layers[0]).not.toHaveProperty('changes');
  });
});

describe('reconfigure what drifted', () => {
  test('takes the layers that drifted out of the states, once', async () => {
    await configure('web');
    const [drifted = '', same = '', failed = ''] = await components(['drifted', 'same', 'failed'], { error_count: 1 });
    const { session } = await check(
      { [drifted]: { changed: 1 }, [same]: {}, [failed]: { status: 'failed', changed: 1 } },
      { reconfigure: true },
    );
    await end(session);
    const after = await stateOf(drifted);
    expect(after.state.map(({ playbook }) => playbook)).toEqual(['more.yml']);
    expect([after.actor, after.error_count]).toEqual([`session/${session.name}`, 1]);
    expect((await stateOf(same)).actor).toBe('somebody');
    expect((await stateOf(failed)).actor).toBe('somebody');
    const set = database.db
      .updateTable('components')
      .set({ state: JSON.stringify([applied('site.yml')]), actor: 'other' });
    await set.where('id', '=', drifted).execute();
    await end(session);
    expect((await stateOf(drifted)).actor).toBe('other');
  });

  test('leaves alone what desires something else by now, and what is behind anyway', async () => {
    await configure('web');
    await configure('moved');
    const [elsewhere = ''] = await components(['elsewhere']);
    const [moved = ''] = await components(['moved'], { desired_config: 'moved' });
    const [behind = ''] = await components(['behind'], { state: [{ ...applied('site.yml'), status: 'failed' }] });
    const [older = ''] = await components(['older'], { state: [applied('site.yml', 'b'.repeat(40))] });
    const one = await check(
      { [elsewhere]: { changed: 1 }, [behind]: { changed: 1 }, [older]: { changed: 1 } },
      { reconfigure: true },
    );
    const two = await check({ [moved]: { changed: 1 } }, { reconfigure: true, configuration: 'moved' });
    await database.db.updateTable('components').set({ desired_config: 'moved' }).where('id', '=', elsewhere).execute();
    await configure('moved', 'c'.repeat(40));
    await end(one.session);
    await end(two.session);
    for (const id of [elsewhere, moved, behind, older]) expect((await stateOf(id)).actor).toBe('somebody');
  });

  test.each<[string, boolean, SessionReason | null]>([
    ['was not asked for', false, null],
    ['was cancelled', true, 'cancelled'],
    ['took too long', true, 'session_timeout'],
    ['lost its workflow', true, 'workflow_ended'],
  ])('not by a check that %s', async (_name, reconfigure, reason) => {
    await configure('web');
    const [id = ''] = await components(['z']);
    const { session } = await check({ [id]: { changed: 1 } }, { reconfigure });
    await end(session, reason);
    expect((await stateOf(id)).actor).toBe('somebody');
  });

  test('not by a check that was deleted meanwhile', async () => {
    await configure('web');
    const [id = ''] = await components(['z']);
    const { session } = await check({ [id]: { changed: 1 } }, { reconfigure: true });
    await database.db.updateTable('sessions').set({ deleted_at: new Date() }).where('id', '=', session.id).execute();
    await end(session);
    expect((await stateOf(id)).actor).toBe('somebody');
  });

  test('also by a check that could not look at everything', async () => {
    await configure('web');
    const [id = '', away = ''] = await components(['z', 'away']);
    const { session } = await check(
      { [id]: { changed: 1 }, [away]: { status: 'failed', unreachable: 1 } },
      { reconfigure: true },
    );
    await end(session, 'layer_failed');
    expect((await stateOf(id)).actor).toBe(`session/${session.name}`);
  });
});
