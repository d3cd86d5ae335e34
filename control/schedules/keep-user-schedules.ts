import { type ReconcileDependencies, reconcileUserSchedules } from './reconcile-schedules.ts';
import { engineSentence } from './sync-schedule.ts';

export interface KeepDependencies extends ReconcileDependencies {
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/** Between two passes, ms. */
const PERIOD_MS = 30_000;
/** Each so many passes every schedule is compared, not only what a list shows: a quarter of an hour. */
const THOROUGH = 30;

/**
 * Keeps the engine's schedules as the records say, at once and then each half minute: what was written while the engine was
 * away, what was changed or removed there, a store that was lost. Several processes may do it. Answers how to stop it.
 */
export function keepUserSchedules(deps: KeepDependencies, periodMs = PERIOD_MS): () => Promise<void> {
  let stopped = false;
  let failing = false;
  let wake: () => void = () => undefined;
  const pass = async (thorough: boolean) => {
    try {
      await reconcileUserSchedules(deps, { thorough });
      if (failing) deps.log.info({}, 'schedules are reconciled again');
      failing = false;
    } catch (error) {
      if (!failing) deps.log.warn({ err: engineSentence(error) }, 'schedules not reconciled');
      failing = true;
    }
  };
  const work = async () => {
    for (let count = 0; !stopped; count += 1) {
      await pass(count % THOROUGH === 0);
      if (stopped) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, periodMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  const working = work();
  return async () => {
    stopped = true;
    wake();
    await working;
  };
}
