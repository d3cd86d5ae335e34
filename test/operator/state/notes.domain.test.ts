/** What makes a resource run that is on record, and when it runs after a reconcile. */
import { describe, expect, test } from '@jest/globals';
import { afterReconcile, type Reconciled } from '../../../domain/operator/after-reconcile.ts';
import { causeOfNote, type NotedObject, type NotedResource } from '../../../domain/operator/note-object.ts';

const object = (more: Partial<NotedObject> = {}): NotedObject => ({
  ...{ namespace: 'ns', name: 'a', uid: 'u', generation: 3, mark: '', deleting: false },
  ...more,
});
const resource = (more: Partial<NotedResource> = {}): NotedResource => ({
  ...{ generation: 3, mark: '', deleting: false, doneGeneration: 3, doneMark: '', doneHash: 'h', lastOutcome: 'ok' },
  ...{ isOpen: false, readGeneration: null, isDue: false },
  ...more,
});
const later = { isFirst: false, entryHash: 'h', resync: 'stale' } as const;
const first = { ...later, isFirst: true };

describe('an object that is told of', () => {
  test.each<[string, NotedResource | null, NotedObject, string | null]>([
    ['for the first time', null, object(), 'created'],
    ['for the first time, being deleted', null, object({ deleting: true }), 'deleted'],
    ['as it is on record', resource(), object(), null],
    ['with another generation', resource(), object({ generation: 4 }), 'changed'],
    [
      'with a generation that its open reconcile has read',
      resource({ isOpen: true, readGeneration: 4 }),
      object({ generation: 4 }),
      null,
    ],
    ['with a newer one than that', resource({ isOpen: true, readGeneration: 4 }), object({ generation: 5 }), 'changed'],
    ['that a reconcile has done by then', resource({ doneGeneration: 4 }), object({ generation: 4 }), null],
    ['newer than what was done', resource({ doneGeneration: 4 }), object({ generation: 5 }), 'changed'],
    ['being deleted', resource(), object({ generation: 4, deleting: true }), 'deleted'],
    [
      'being deleted, as its open reconcile has read',
      resource({ isOpen: true, readGeneration: 4 }),
      object({ generation: 4, deleting: true }),
      'deleted',
    ],
    [
      'without generation and changed',
      resource({ generation: 0, mark: '7' }),
      object({ generation: 0, mark: '8' }),
      'changed',
    ],
    ['after a failure', resource({ lastOutcome: 'failed' }), object(), null],
    ['with other playbooks', resource({ doneHash: 'x' }), object(), null],
  ])('%s', (_what, known, seen, cause) => {
    expect(causeOfNote(known, seen, later)).toBe(cause);
  });
});

describe('an object in the first list after a start', () => {
  test.each<[string, Partial<NotedResource>, Partial<NotedObject>, string | null]>([
    ['that is done', {}, {}, null],
    ['that was done before it was noted', { generation: 2 }, {}, null],
    ['of the same, with other playbooks', { generation: 2, doneHash: 'x' }, {}, 'config'],
    ['that never ended well or badly', { doneGeneration: null, doneMark: null, lastOutcome: null }, {}, 'changed'],
    ['that was noted and not done', { doneGeneration: 2 }, {}, 'changed'],
    ['that failed', { lastOutcome: 'failed' }, {}, 'retry'],
    ['whose run was lost', { lastOutcome: 'interrupted' }, {}, 'retry'],
    ['that was cancelled', { lastOutcome: 'cancelled' }, {}, null],
    ['whose playbooks have changed', { doneHash: 'x' }, {}, 'config'],
    ['that is being deleted', { deleting: true }, { deleting: true }, 'deleted'],
    ['that is due already', { doneGeneration: 2, isDue: true }, {}, null],
    ['whose reconcile is open', { doneGeneration: null, isOpen: true }, {}, null],
  ])('%s', (_what, known, seen, cause) => {
    expect(causeOfNote(resource(known), object(seen), first)).toBe(cause);
  });

  test('with `always` each one runs again, but for the one that runs', () => {
    const always = { ...first, resync: 'always' } as const;
    expect(causeOfNote(resource(), object(), always)).toBe('resync');
    expect(causeOfNote(resource({ isOpen: true }), object(), always)).toBe(null);
  });
});

describe('after a reconcile', () => {
  const ended = (more: Partial<Reconciled>): Reconciled => ({
    outcome: 'ok',
    next: { when: 'event' },
    before: { failures: 0, interruptions: 0 },
    generationOfLastRun: 3,
    generation: 3,
    backoff: { initial: '1s', factor: 2, max: '1000s' },
    random: 0.5,
    ...more,
  });

  test('failures in a row wait longer; a changed resource begins anew', () => {
    const failed = { outcome: 'failed', next: { when: 'back_off' } } as const;
    const third = afterReconcile(ended({ ...failed, before: { failures: 2, interruptions: 0 } }));
    expect(third).toMatchObject({
      counts: { failures: 3 },
      phase: 'backing_off',
      due: { inSeconds: 4, cause: { type: 'retry', attempt: 3 } },
    });
    expect(third.requeueAfterSeconds).toBeNull();
    const changed = afterReconcile(ended({ ...failed, before: { failures: 2, interruptions: 0 }, generation: 4 }));
    expect(changed).toMatchObject({ counts: { failures: 1 }, due: { inSeconds: 1 } });
  });

  test('a period is stretched and recorded as it is; what a playbook asked for is kept', () => {
    const period = afterReconcile(ended({ next: { when: 'after', seconds: 100, reason: 'period' } }));
    expect(period).toMatchObject({
      phase: 'waiting',
      due: { inSeconds: 105, cause: { type: 'timer' } },
      requeueAfterSeconds: 100,
    });
    const asked = afterReconcile(ended({ next: { when: 'after', seconds: 30, reason: 'requeue' } }));
    expect(asked).toMatchObject({ due: { inSeconds: 30 }, requeueAfterSeconds: 30, requeueReason: 'requeue' });
  });

  test.each<[Partial<Reconciled>, object]>([
    [
      { outcome: 'interrupted', next: { when: 'now' } },
      { phase: 'queued', due: { inSeconds: 0 }, counts: { failures: 0, interruptions: 1 } },
    ],
    [{ outcome: 'gone' }, { phase: 'gone', due: null }],
    [{ outcome: 'refused' }, { phase: 'waiting', due: null }],
    [{ next: { when: 'now' } }, { phase: 'deleting', due: { inSeconds: 0, cause: { type: 'deleted' } } }],
    [{ next: { when: 'event' } }, { phase: 'waiting', due: null }],
    [
      { outcome: 'cancelled', before: { failures: 2, interruptions: 1 } },
      { counts: { failures: 2, interruptions: 0 } },
    ],
  ])('%j', (how, expected) => {
    expect(afterReconcile(ended(how))).toMatchObject(expected);
  });
});
