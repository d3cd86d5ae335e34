import { type ReconcileDependencies, reconcileUserSchedules } from './reconcile-schedules.ts';

/** So often (ms) every schedule is compared, not only what a list shows. */
const THOROUGH_MS = 15 * 60_000;

/**
 * Makes the part of lane schedules in the sweep: Temporal's Schedules become as the records say, and it hears of runs that it has not
 * heard of. Several processes may do so. The function throws what Temporal throws.
 */
export function createScheduleSweep(deps: ReconcileDependencies): () => Promise<void> {
  let thoroughAfter = 0;
  return async () => {
    const now = deps.clock().getTime();
    const thorough = now >= thoroughAfter;
    await reconcileUserSchedules(deps, { thorough });
    if (thorough) thoroughAfter = now + THOROUGH_MS;
  };
}
