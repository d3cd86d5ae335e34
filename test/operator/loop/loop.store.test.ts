/** When a resource that is slowed down runs for its dependents, and what else makes it run meanwhile. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { afterReconcile } from '../../../domain/operator/after-reconcile.ts';
import { urgencyOf } from '../../../domain/operator/cause.ts';
import type { Loop } from '../../../domain/operator/loop.ts';
import { DEFAULT_BACKOFF } from '../../../domain/operator/watch-entry.ts';
import type { Db } from '../../../store/connection/database.ts';
import { writeDependentCause } from '../../../store/operator/dependents.ts';
import { endReconcile } from '../../../store/operator/reconciles.ts';
import { writeManualCause } from '../../../store/operator/requests.ts';
import { addWidget, begin, OPERATOR, recordOf, WIDGET } from '../hands/fixtures.ts';
import { later, NOW, resourceRow, withOperatorRows } from '../hands/operator-rows.ts';

const SLOWED: Loop = { recent: [NOW.getTime()], delaySeconds: 8, reason: 'it is slowed down' };

let db: Db;
let id: string;
withOperatorRows((opened) => {
  db = opened.db;
});
beforeEach(async () => {
  id = await addWidget(db, 'a', NOW);
});

const row = () => resourceRow(db, id);
const changed = (now: Date) =>
  writeDependentCause(
    ...([db, OPERATOR, WIDGET, [{ namespace: 'ns', name: 'a' }]] as const),
    { cause: { type: 'dependent', object: 'ConfigMap ns/web', manager: 'meddler' }, urgency: urgencyOf('dependent') },
    now,
  );
/** Runs it once; `meanwhile`: what happens during the run. `period`: after which it runs again (s). */
async function run(loop: Loop | null, { meanwhile = async () => {}, period }: RunOptions = {}): Promise<void> {
  const { id: reconcile } = await begin(db, id, NOW);
  await meanwhile();
  const record = await recordOf(db, reconcile);
  const after = afterReconcile({
    ...{ outcome: 'ok', generation: 1, generationOfLastRun: 1, random: 0, backoff: DEFAULT_BACKOFF },
    next: period === undefined ? { when: 'event' } : { when: 'after', seconds: period, reason: 'period' },
    before: { failures: 0, interruptions: 0 },
  });
  const from = loop === null ? null : later(loop.delaySeconds);
  await endReconcile(db, record, { outcome: 'ok', messages: [], after, loop, dependentsFrom: from }, NOW);
}

interface RunOptions {
  meanwhile?: () => Promise<unknown>;
  period?: number;
}

describe('a resource that is slowed down', () => {
  test('runs for a dependent when its delay is over, and says why it waits', async () => {
    await run(SLOWED);
    await changed(later(2));
    expect(await row()).toMatchObject({
      ...{ due_at: later(8), due_class: 4, phase: 'waiting', reason: SLOWED.reason },
      cause: { object: 'ConfigMap ns/web', manager: 'meddler' },
    });
    await changed(later(20));
    expect(await row()).toMatchObject({ due_at: later(8), phase: 'queued' });
    expect((await recordOf(db, (await begin(db, id, later(20))).id)).loop).toEqual(SLOWED);
  });

  test('waits as well for a dependent that changed during its run', async () => {
    await run(SLOWED, { meanwhile: () => changed(NOW) });
    expect(await row()).toMatchObject({ due_at: later(8), phase: 'waiting', reason: SLOWED.reason });
  });

  test.each([null, { ...SLOWED, delaySeconds: 0, reason: null }])('does not wait with %j', async (loop) => {
    await run(loop, { meanwhile: () => changed(NOW) });
    expect(await row()).toMatchObject({ due_at: NOW, phase: 'queued', reason: 'changed during its run' });
  });

  test('runs at once for another cause, before and during its run', async () => {
    const manual = (now: Date) => writeManualCause(db, id, { by: 'ann', urgency: urgencyOf('manual') }, now);
    await run(SLOWED, {
      meanwhile: async () => {
        await changed(NOW);
        await manual(NOW);
      },
    });
    expect(await row()).toMatchObject({ due_at: NOW, phase: 'queued', cause: { type: 'manual' } });
    await run(SLOWED);
    await changed(later(1));
    await manual(later(2));
    expect(await row()).toMatchObject({ due_at: later(2), phase: 'queued', cause: { type: 'manual' } });
    // What is due by then is not put off by a further dependent.
    await changed(later(3));
    expect(await row()).toMatchObject({ due_at: later(2), due_class: 2, cause: { type: 'manual' } });
  });

  test('keeps an earlier time, and its cause', async () => {
    await run(SLOWED, { period: 5 });
    await changed(later(1));
    expect(await row()).toMatchObject({ due_at: later(5), due_class: 5, cause: { type: 'timer' } });
    await run(SLOWED, { period: 5, meanwhile: () => changed(NOW) });
    expect(await row()).toMatchObject({ due_at: later(5), due_class: 5, cause: { type: 'timer' }, phase: 'waiting' });
    await run(SLOWED, { period: 50 });
    await changed(later(1));
    expect(await row()).toMatchObject({ due_at: later(8), due_class: 4, cause: { type: 'dependent' } });
  });
});
