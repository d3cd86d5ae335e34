import { afterEnds, afterKeyEnds, seenKey } from '../../domain/batches/back-off.ts';
import { afterControllerEnds } from '../../domain/batches/controller-hold.ts';
import { endHold, readHolds, writeHold } from '../../store/batches/batch-holds.ts';
import { forgetKey, readBatcherState, readKeys, writeBackOff, writeKey } from '../../store/batches/batcher-state.ts';
import { takeUncountedEnds, type UncountedEnd } from '../../store/batches/batches.ts';
import type { Db } from '../../store/connection/database.ts';
import type { PassDependencies } from './batcher-ports.ts';
import { readDesiredDigests } from './desired-digest.ts';

/**
 * Tells the back-off of all, and of each key, which batches ended since it was told last (cfs-flows 5.2). All ends of a pass
 * count together, also those of a pass that was broken off.
 */
export async function countEnds({ db, clock, options }: PassDependencies): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const { backOff } = await readBatcherState(trx, { lock: true });
    const ends = await takeUncountedEnds(trx);
    if (ends.length === 0) return;
    const now = clock().getTime();
    const cap = options.batcher_max_backoff;
    await holdKeys(trx, ends, now);
    // A fault of the controller says nothing about what fails by itself; its keys are held for themselves.
    const counted = ends.filter(({ verdict }) => verdict !== 'controller');
    await writeBackOff(trx, afterEnds(backOff, counted, now, cap));
    const known = new Map((await readKeys(trx, { lock: true })).map((state) => [state.key, state]));
    const names = counted.map(({ configuration }) => configuration);
    const desired = await readDesiredDigests(trx, names, options);
    for (const [key, keyEnds] of Map.groupBy(counted, (end) => end.key)) {
      const wanted = desired.get(keyEnds[0]?.configuration ?? '') ?? '';
      const next = afterKeyEnds(seenKey(known.get(key), wanted, now), keyEnds, now, cap);
      // Nothing is remembered of a key that did not fail.
      if (next.failuresInARow === 0) await forgetKey(trx, key);
      if (next.failuresInARow > 0 || known.get(key)?.paused) await writeKey(trx, key, next);
    }
  });
}

/** Holds the keys whose sessions ended for a fault of the controller, and lets those go on whose sessions worked. */
async function holdKeys(trx: Db, ends: readonly UncountedEnd[], now: number): Promise<void> {
  const held = new Map((await readHolds(trx, { lock: true })).map((hold) => [hold.key, hold]));
  for (const [key, ofKey] of Map.groupBy(ends, (end) => end.key)) {
    const next = afterControllerEnds(held.get(key), ofKey, now);
    if (next === undefined) await endHold(trx, key);
    else await writeHold(trx, { ...next, key, configuration: ofKey[0]?.configuration ?? '' });
  }
}
