/** What people ask of operators, as its own process finds it: rows that admission, cancels and Events go by. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { noteObjects } from '../../../control/operator/note-objects.ts';
import { retainReconciles } from '../../../control/operator/retain-reconciles.ts';
import type { WatchEntry } from '../../../domain/operator/watch-entry.ts';
import type { Db } from '../../../store/connection/database.ts';
import { listDependentKinds, noteDependentState, writeDependentKind } from '../../../store/operator/dependent-kinds.ts';
import { countWorkOf, dueResources, freePlaces, nextDue } from '../../../store/operator/due.ts';
import { noteProcess } from '../../../store/operator/operators.ts';
import { deletePassword, takePasswords, writePassword } from '../../../store/operator/proxy-passwords.ts';
import { countOperators, listWatches } from '../../../store/operator/reads.ts';
import {
  cancelWaiting,
  listAbandoned,
  requestCancel,
  takeUntoldPauses,
  writeDrain,
  writeManualCause,
  writePause,
  writeResume,
} from '../../../store/operator/requests.ts';
import { load } from '../watches/entries.ts';
import { addOperator, addWidget, begin, end, MACHINE, OPERATOR, recordOf, WIDGET } from './fixtures.ts';
import { later, NOW, resourceRow, withOperatorRows } from './operator-rows.ts';

let db: Db;
withOperatorRows((opened) => {
  db = opened.db;
});
beforeEach(async () => {
  await db.deleteFrom('webhooks').execute();
});

const dueAt = async (now: Date) => {
  const places = await freePlaces(db, OPERATOR, new Date(0));
  return (await dueResources(db, OPERATOR, places, now)).map(({ id }) => id);
};
const rowOf = (id: string) => resourceRow(db, id);

describe('a pause', () => {
  test('keeps a resource from running until it ends, and its end is a time to look', async () => {
    const id = await addWidget(db, 'a', NOW);
    expect(await dueAt(NOW)).toEqual([id]);
    await writePause(db, id, { by: 'ann', until: later(60) }, NOW);
    expect(await dueAt(NOW)).toEqual([]);
    expect(await nextDue(db, OPERATOR, NOW)).toEqual(later(60));
    expect(await dueAt(later(61))).toEqual([id]);
    await writePause(db, id, { by: 'ann', until: null }, NOW);
    expect(await nextDue(db, OPERATOR, NOW)).toBeNull();
    expect(await dueAt(later(10_000))).toEqual([]);
    await writeResume(db, id, NOW);
    expect(await dueAt(NOW)).toEqual([id]);
  });

  test('is told once', async () => {
    const id = await addWidget(db, 'b', NOW);
    await writePause(db, id, { by: 'ann', until: null }, NOW);
    expect(await takeUntoldPauses(db, OPERATOR, NOW)).toMatchObject([{ id, by: 'ann', until: null, ...WIDGET }]);
    expect(await takeUntoldPauses(db, OPERATOR, NOW)).toEqual([]);
    await writePause(db, id, { by: 'bob', until: later(9) }, NOW);
    expect(await takeUntoldPauses(db, OPERATOR, NOW)).toMatchObject([{ by: 'bob' }]);
  });
});

describe('by hand', () => {
  test('a resource that waits for its time runs now; one that runs does so again at its end', async () => {
    const id = await addWidget(db, 'c', NOW, { cause: null });
    await writeManualCause(db, id, { by: 'ann', urgency: 2 }, NOW);
    expect(await rowOf(id)).toMatchObject({ due_at: NOW, due_class: 2, phase: 'queued' });
    const record = await begin(db, id, NOW);
    await writeManualCause(db, id, { by: 'bob', urgency: 2 }, later(1));
    expect(await rowOf(id)).toMatchObject({ phase: 'running' });
    await end(db, record, 'ok', later(2));
    expect(await rowOf(id)).toMatchObject({
      ...{ due_at: later(2), phase: 'queued', cause: { type: 'manual', by: 'bob' } },
    });
  });

  test('a more urgent cause that waits by then stays', async () => {
    const id = await addWidget(db, 'd', NOW, { cause: 'deleted' });
    await writeManualCause(db, id, { by: 'ann', urgency: 2 }, NOW);
    expect(await rowOf(id)).toMatchObject({ cause: { type: 'deleted' }, due_class: 0 });
  });
});

describe('a cancel', () => {
  test('of an open reconcile: the first request counts, and none after its end', async () => {
    const record = await begin(db, await addWidget(db, 'e', NOW), NOW);
    expect(await requestCancel(db, record.id, 'ann', NOW)).toBe(true);
    expect(await requestCancel(db, record.id, 'bob', later(1))).toBe(true);
    expect(await recordOf(db, record.id)).toMatchObject({ cancelledBy: 'ann' });
    await end(db, record, 'cancelled', later(2));
    expect(await requestCancel(db, record.id, 'bob', later(3))).toBe(false);
  });

  test('of one that waits: a record, no retry, the counts as they were, and the period of its last run', async () => {
    const id = await addWidget(db, 'f', NOW);
    await end(db, await begin(db, id, NOW), 'failed', NOW, ['boom']);
    await cancelWaiting(db, id, 'ann', later(1));
    expect(await rowOf(id)).toMatchObject({
      ...{ failures: 1, phase: 'waiting', last_outcome: 'cancelled', done_generation: 1, done_hash: 'h1' },
      due_at: later(3_601),
    });
    const records = await db.selectFrom('operator_reconciles').selectAll().where('outcome', '=', 'cancelled').execute();
    expect(records).toMatchObject([{ cancelled_by: 'ann', ended_at: later(1), cause: { type: 'retry' } }]);
  });

  test('is given up for a machine that gives no sign', async () => {
    const record = await begin(db, await addWidget(db, 'g', NOW), NOW);
    await requestCancel(db, record.id, 'ann', NOW);
    expect(await listAbandoned(db, OPERATOR, later(-1))).toEqual([]);
    expect(await listAbandoned(db, OPERATOR, later(1))).toMatchObject([{ id: record.id, uid: 'uid-demo-g' }]);
    const sign = { operator: OPERATOR, machine: MACHINE, queue: 'q', slots: 2, version: '1', engineReason: 'away' };
    await noteProcess(db, sign, later(2));
    expect(await listAbandoned(db, OPERATOR, later(1))).toEqual([]);
  });

  test.each([
    ['comes of a deletion where the entry says so', false, 'the deletion of the resource'],
    ['never comes of it to a run of the finalizer', true, null],
  ])('%s', async (_, finalizerRun, by) => {
    const text = '[{group: demo.io, version: v1, kind: Widget, playbook: pb.yml, muster: {on_delete: cancel}}]';
    const [entry] = load(text).entries as [WatchEntry];
    const record = await begin(db, await addWidget(db, 'h', NOW), NOW, { finalizerRun });
    const notices = { tell: () => undefined, close: async () => undefined };
    const deps = { db, clock: () => NOW, operator: OPERATOR, tell: async () => undefined, notices };
    const object = { namespace: 'ns', name: 'h', uid: 'uid-demo-h', generation: 2, mark: '', deleting: true };
    const notes = { objects: [object], gone: [], isComplete: false, isFirst: false };
    await noteObjects(deps, { entry, hash: 'h1' }, notes);
    expect(await recordOf(db, record.id)).toMatchObject({ cancelledBy: by });
  });
});

describe('a drain', () => {
  test('goes on in a pause; what was drained is paused, and a failed try is no drain', async () => {
    const id = await addWidget(db, 'i', NOW, { cause: null });
    await writePause(db, id, { by: 'ann', until: null }, NOW);
    expect(await writeDrain(db, OPERATOR, { mode: 'run', by: 'ann', urgency: 2 }, NOW)).toBe(1);
    expect(await dueAt(NOW)).toEqual([id]);
    await writeResume(db, id, NOW);
    await end(db, await begin(db, id, NOW, { drained: true }), 'failed', NOW, ['boom']);
    expect(await rowOf(id)).toMatchObject({ drain: 'run', paused_at: null });
    await end(db, await begin(db, id, later(5), { drained: true }), 'ok', later(6));
    expect(await rowOf(id)).toMatchObject({ drain: null, paused_at: later(6), paused_by: 'a drain' });
  });

  test('is tried again in a pause, and ends by a cancel', async () => {
    const id = await addWidget(db, 'm', NOW, { cause: null });
    await writePause(db, id, { by: 'ann', until: null }, NOW);
    await writeDrain(db, OPERATOR, { mode: 'run', by: 'ann', urgency: 2 }, NOW);
    await end(db, await begin(db, id, NOW, { drained: true }), 'failed', NOW, ['boom']);
    expect(await nextDue(db, OPERATOR, NOW)).toEqual(later(1));
    await cancelWaiting(db, id, 'bob', NOW);
    expect(await rowOf(id)).toMatchObject({ drain: null, phase: 'waiting' });
    await writeDrain(db, OPERATOR, { mode: 'run', by: 'ann', urgency: 2 }, NOW);
    await end(db, await begin(db, id, NOW, { drained: true }), 'cancelled', NOW);
    expect(await rowOf(id)).toMatchObject({ drain: null, paused_by: 'ann' });
  });

  test('a reconcile that had begun before it does not count as drained', async () => {
    const id = await addWidget(db, 'j', NOW);
    const record = await begin(db, id, NOW);
    await writeDrain(db, OPERATOR, { mode: 'now', by: null, urgency: 2 }, NOW);
    await end(db, record, 'ok', later(1));
    expect(await rowOf(id)).toMatchObject({ drain: 'now', paused_at: null, due_at: later(1) });
  });

  test('leaves alone what has no finalizer of the operator', async () => {
    await addOperator(db, NOW, OPERATOR, null);
    await addWidget(db, 'k', NOW);
    expect(await writeDrain(db, OPERATOR, { mode: 'now', by: null, urgency: 2 }, NOW)).toBe(0);
  });
});

test('webhooks are told of the first failure after a success, and of no further try', async () => {
  const hook = { url: 'https://hook.example/', enabled: true, allow_private_redirects: false };
  await db
    .insertInto('webhooks')
    .values({ name: 'w', ...hook, events: ['operator.failed'], created_at: NOW, updated_at: NOW, actor: null })
    .execute();
  const told = async () => (await db.selectFrom('notifications').select(['event', 'data']).execute()).length;
  const id = await addWidget(db, 'l', NOW);
  await end(db, await begin(db, id, NOW), 'failed', NOW, ['boom']);
  expect(await db.selectFrom('notifications').select(['event', 'data']).execute()).toMatchObject([
    { event: 'operator.failed', data: { operator: OPERATOR, kind: 'Widget', name: 'l', messages: ['boom'] } },
  ]);
  await end(db, await begin(db, id, NOW), 'failed', NOW, ['boom']);
  expect(await told()).toBe(1);
  await end(db, await begin(db, id, NOW), 'ok', NOW);
  await end(db, await begin(db, id, NOW), 'failed', NOW, ['again']);
  expect(await told()).toBe(2);
});

test('passwords are kept as long as their reconcile is open', async () => {
  const here = { operator: OPERATOR, machine: MACHINE };
  const records = [await begin(db, await addWidget(db, 'm', NOW), NOW)];
  records.push(await begin(db, await addWidget(db, 'n', NOW), NOW));
  const owner = { apiVersion: 'demo.io/v1', kind: 'Widget', name: 'm', uid: 'u', namespace: 'ns' };
  const entry = { ...WIDGET, watch_dependent_resources: true, watch_cluster_scoped_resources: false, blacklist: [] };
  const runs = records.map(({ id }) => ({ runId: `reconcile-${id}-1`, owner, entry, passwordHash: 'aa' }));
  for (const run of runs) await writePassword(db, here, run, NOW);
  const [first, second] = runs;
  if (first === undefined || second === undefined) throw new Error('no runs');
  await writePassword(db, here, { ...first, passwordHash: 'bb' }, NOW);
  expect(await takePasswords(db, here)).toEqual(expect.arrayContaining([{ ...first, passwordHash: 'bb' }, second]));
  expect(await takePasswords(db, { ...here, machine: 'other' })).toEqual([]);
  const [record] = records;
  if (record !== undefined) await end(db, record, 'ok', NOW);
  expect(await takePasswords(db, here)).toEqual([second]);
  await deletePassword(db, second.runId);
  expect(await db.selectFrom('operator_proxy_passwords').select('run_id').execute()).toEqual([]);
});

test('kinds of dependents are kept once for each mark, and shown with their reason', async () => {
  const kind = { group: 'apps', version: 'v1', kind: 'Deployment', resource: 'deployments', namespaced: true };
  const pairs = (['owner_reference', 'annotations'] as const).map((mark) => ({
    entry: WIDGET,
    kind: { ...kind, mark },
  }));
  for (const pair of [...pairs, ...pairs]) await writeDependentKind(db, OPERATOR, pair, NOW);
  expect(await listDependentKinds(db, OPERATOR)).toEqual(expect.arrayContaining(pairs));
  expect(await listDependentKinds(db, OPERATOR)).toHaveLength(2);
  const [first] = pairs;
  if (first !== undefined) await noteDependentState(db, OPERATOR, first, 'forbidden');
  const [watch] = await listWatches(db, OPERATOR);
  expect(watch?.dependents.map(({ mark, reason }) => [mark, reason])).toEqual([
    ['annotations', null],
    ['owner_reference', 'forbidden'],
  ]);
});

test('records are kept for 30 days, and so are resources that are no more', async () => {
  const day = 24 * 3_600;
  const [kept, gone] = [await addWidget(db, 'r', NOW), await addWidget(db, 's', NOW)];
  const old = await begin(db, kept, NOW);
  await end(db, old, 'ok', NOW);
  const young = await begin(db, kept, later(2 * day));
  await end(db, young, 'ok', later(2 * day));
  const open = await begin(db, kept, NOW);
  await end(db, await begin(db, gone, NOW), 'gone', NOW);
  const left = async () =>
    (await db.selectFrom('operator_reconciles').select('id').execute()).map(({ id }) => id).sort();
  const retain = (now: Date) => retainReconciles({ db, operator: OPERATOR, clock: () => now });
  expect(await retain(later(30 * day))).toBe(0);
  expect(await rowOf(gone)).toMatchObject({ phase: 'gone' });
  expect(await retain(later(30 * day + 1))).toBe(2);
  expect(await left()).toEqual([young.id, open.id].sort());
  const resources = await db.selectFrom('operator_resources').select('id').execute();
  expect(resources).toEqual([{ id: kept }]);
  expect(await retain(later(30 * day + 1))).toBe(0);
});

test('work is counted by kind, phase and machine', async () => {
  await begin(db, await addWidget(db, 'o', NOW), NOW);
  await addWidget(db, 'p', NOW);
  await writePause(db, await addWidget(db, 'q', NOW), { by: null, until: null }, NOW);
  const kind = 'demo.io/v1, Kind=Widget';
  expect(await countWorkOf(db, { operator: OPERATOR, machine: MACHINE }, NOW)).toEqual({
    active: new Map([[kind, 1]]),
    due: new Map([[kind, 1]]),
  });
  expect(await countOperators(db, NOW, later(-45))).toEqual({
    ...{ due: 1, open: 1, live: 1 },
    resources: { running: 1, queued: 1, paused: 1 },
  });
});
