/** What follows from annotations and labels of a resource: when it runs, why, and who is told. */
import { describe, expect, test } from '@jest/globals';
import { noteDependent } from '../../../control/operator/note-dependent.ts';
import { noteObjects } from '../../../control/operator/note-objects.ts';
import { getResource } from '../../../control/operator/read-operators.ts';
import { reconcileNow, resumeResource } from '../../../control/operator/request-of-resource.ts';
import type { NotedObject } from '../../../domain/operator/note-object.ts';
import type { OwnAnnotations } from '../../../domain/operator/own-annotations.ts';
import type { Db } from '../../../store/connection/database.ts';
import { dueResources, freePlaces, nextDue } from '../../../store/operator/due.ts';
import { takeUntoldPauses, writePause } from '../../../store/operator/requests.ts';
import { addWidget, begin, end, OPERATOR, WIDGET } from '../hands/fixtures.ts';
import { later, NOW, resourceRow, withOperatorRows } from '../hands/operator-rows.ts';
import { load } from '../watches/entries.ts';

const [ENTRY] = load('[{group: demo.io, version: v1, kind: Widget, playbook: pb.yml}]').entries;

let db: Db;
withOperatorRows((opened) => {
  db = opened.db;
});

const told: string[] = [];
const deps = {
  ...{ operator: OPERATOR, clock: () => NOW, tell: async () => undefined },
  notices: {
    tell: ({ name }: { name: string }, reason: string, message: string) =>
      void told.push(`${name} ${reason} ${message}`),
    close: async () => undefined,
  },
};
/** The watch tells of a widget as it is known, with these annotations. */
async function annotate(name: string, own: OwnAnnotations | null): Promise<void> {
  if (ENTRY === undefined) throw new Error('no entry');
  const object = {
    namespace: 'ns',
    name,
    uid: `uid-${OPERATOR}-${name}`,
    generation: 1,
    mark: '',
    deleting: false,
    own,
  };
  const notes = { objects: [object], gone: [], isComplete: false, isFirst: false };
  await noteObjects({ ...deps, db }, { entry: ENTRY, hash: 'h1' }, notes);
}
const due = async (now: Date) => {
  const places = await freePlaces(db, OPERATOR, new Date(0));
  return (await dueResources(db, OPERATOR, places, now)).map(({ id }) => id);
};
const rowOf = (id: string) => resourceRow(db, id);
const shown = (id: string, now = NOW) => getResource({ db, clock: () => now }, id);

describe('a pause by annotation', () => {
  test('keeps a resource from running until it goes, and says so', async () => {
    const id = await addWidget(db, 'a', NOW);
    await annotate('a', { paused: true });
    expect(await due(later(10_000))).toEqual([]);
    expect(await nextDue(db, OPERATOR, NOW)).toBeNull();
    expect(await shown(id)).toMatchObject({
      ...{ phase: 'paused', paused: true, paused_until: null, next_attempt_at: null },
      reason: 'paused by the annotation muster/paused',
    });
    await annotate('a', null);
    expect(await due(NOW)).toEqual([id]);
    expect(await shown(id)).toMatchObject({ phase: 'queued', paused: false });
  });

  test('ends at its time, which is a time to look', async () => {
    const id = await addWidget(db, 'b', NOW);
    await annotate('b', { paused: true, pausedUntil: later(60).toISOString() });
    expect(await due(NOW)).toEqual([]);
    expect(await nextDue(db, OPERATOR, NOW)).toEqual(later(60));
    expect(await shown(id)).toMatchObject({ paused: true, paused_until: '2026-01-02T03:05:05Z' });
    expect(await due(later(61))).toEqual([id]);
    expect(await shown(id, later(61))).toMatchObject({ paused: false, paused_until: null });
  });

  test('and one by a request hold both: the end of one of them is not the end of the other', async () => {
    const id = await addWidget(db, 'c', NOW);
    await annotate('c', { paused: true, pausedUntil: later(60).toISOString() });
    await writePause(db, id, { by: 'ann', until: later(90) }, NOW);
    expect(await nextDue(db, OPERATOR, NOW)).toEqual(later(90));
    expect(await shown(id)).toMatchObject({ reason: 'paused by ann', paused_until: '2026-01-02T03:05:35Z' });
    await writePause(db, id, { by: 'ann', until: null }, NOW);
    expect(await nextDue(db, OPERATOR, NOW)).toBeNull();
    expect(await due(later(61))).toEqual([]);
    await annotate('c', { paused: true });
    await resumeResource({ db, clock: () => NOW, actor: 'ann' }, id);
    expect(await due(NOW)).toEqual([]);
    expect(await shown(id)).toMatchObject({ paused: true, reason: 'paused by the annotation muster/paused' });
    await writePause(db, id, { by: 'ann', until: later(30) }, NOW);
    await annotate('c', null);
    expect(await nextDue(db, OPERATOR, NOW)).toEqual(later(30));
  });

  test('is told once, and again when it is another one', async () => {
    const id = await addWidget(db, 'd', NOW);
    await annotate('d', { paused: true });
    const by = 'the annotation muster/paused';
    expect(await takeUntoldPauses(db, OPERATOR, NOW)).toMatchObject([{ id, by, until: null, ...WIDGET }]);
    await annotate('d', { paused: true, request: 'x' });
    expect(await takeUntoldPauses(db, OPERATOR, NOW)).toEqual([]);
    await annotate('d', { paused: true, pausedUntil: later(9).toISOString() });
    expect(await takeUntoldPauses(db, OPERATOR, NOW)).toMatchObject([{ by, until: later(9) }]);
    await annotate('d', null);
    expect(await takeUntoldPauses(db, OPERATOR, NOW)).toEqual([]);
  });

  test('lets a run go on, and nothing begin by hand', async () => {
    const id = await addWidget(db, 'e', NOW);
    const record = await begin(db, id, NOW);
    await annotate('e', { paused: true });
    expect(await shown(id)).toMatchObject({ phase: 'running', paused: true });
    await end(db, record, 'ok', NOW);
    await expect(reconcileNow({ db, clock: () => NOW, actor: 'ann' }, id)).rejects.toMatchObject({
      ...{
        code: 'operator_paused',
        detail: expect.stringContaining('the annotation muster/paused: remove that first'),
      },
    });
  });
});

test('what the selector takes again has its period again, and runs for nothing; what was never known stays so', async () => {
  const id = await addWidget(db, 'j', NOW);
  await end(db, await begin(db, id, NOW), 'ok', NOW);
  if (ENTRY === undefined) throw new Error('no entry');
  const selector = { matchLabels: { on: 'yes' }, matchExpressions: [] };
  const noted = (objects: readonly NotedObject[], gone: readonly string[]) =>
    noteObjects(
      { ...deps, db },
      { entry: { ...ENTRY, selector }, hash: 'h1' },
      { objects, gone, isComplete: false, isFirst: false },
    );
  const object = (name: string): NotedObject => ({
    ...{
      namespace: 'ns',
      name,
      uid: `uid-${OPERATOR}-${name}`,
      generation: 1,
      mark: '',
      deleting: false,
      isBack: true,
    },
  });
  await noted([], [object('j').uid]);
  expect(await rowOf(id)).toMatchObject({ phase: 'gone', due_at: null, reason: expect.stringContaining('selector') });
  await noted([object('j'), object('unknown')], []);
  expect(await rowOf(id)).toMatchObject({
    ...{ phase: 'waiting', gone_at: null, due_at: later(3_600), due_class: 5 },
    reason: 'waits for a change or its period',
  });
  expect(await db.selectFrom('operator_resources').select('name').execute()).toEqual([{ name: 'j' }]);
});

describe('further annotations', () => {
  test('a request makes the resource run by hand, also behind an open run, and each value once', async () => {
    const id = await addWidget(db, 'g', NOW, { cause: null });
    await annotate('g', { request: 'one' });
    expect(await rowOf(id)).toMatchObject({
      ...{ due_at: NOW, due_class: 2, phase: 'queued' },
      cause: { type: 'manual', by: 'the annotation muster/reconcile-requested-at' },
    });
    const record = await begin(db, id, NOW);
    await annotate('g', { request: 'one' });
    await end(db, record, 'ok', NOW);
    expect(await rowOf(id)).toMatchObject({ due_at: null, phase: 'waiting' });
    const second = await begin(db, id, NOW);
    await annotate('g', { request: 'two' });
    await end(db, second, 'ok', NOW);
    expect(await rowOf(id)).toMatchObject({ due_at: NOW, phase: 'queued', cause: { type: 'manual' } });
  });

  test('dependents do not count where they say so, and count again when that goes', async () => {
    const id = await addWidget(db, 'h', NOW, { cause: null });
    const changed = () =>
      noteDependent({ ...deps, db }, WIDGET, { object: 'ConfigMap ns/x' }, [{ namespace: 'ns', name: 'h' }]);
    await annotate('h', { ignoresDependents: true });
    await changed();
    expect(await rowOf(id)).toMatchObject({ due_at: null, dirty: 0 });
    await annotate('h', null);
    await changed();
    expect(await rowOf(id)).toMatchObject({ due_at: NOW, cause: { type: 'dependent' } });
  });

  test('what cannot be read is told of once', async () => {
    await addWidget(db, 'i', NOW, { cause: null });
    told.length = 0;
    for (const _ of [1, 2]) await annotate('i', { mistakes: ['one'] });
    await annotate('i', { mistakes: ['one', 'two'] });
    expect(told).toEqual(['i BadAnnotation one', 'i BadAnnotation two']);
  });
});
