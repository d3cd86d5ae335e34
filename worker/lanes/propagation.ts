import { createAttemptActivities, createPlanActivities } from '../../activities/propagation/activities.ts';
import { createAttemptRuns } from '../../activities/propagation/attempt-runs.ts';
import { attemptOwner } from '../../control/propagation/attempt-owner.ts';
import { followLeases, sweepPlans } from '../../control/propagation/wake-plans.ts';
import type { WorkerLane } from '../shared/open-shared.ts';

/** Plans: their steps, their attempts on this machine, the sweep that finds plans without a driver, the word that a lease is free. */
export const propagation: WorkerLane = (shared) => {
  const attempts = createAttemptActivities({
    ...shared,
    attempts: createAttemptRuns({
      ...shared,
      handlers: {},
    }),
  });
  return {
    main: { ...createPlanActivities(shared), ...attempts },
    machine: attempts,
    owners: [attemptOwner(shared.db)],
    sweep: () => sweepPlans(shared),
    background: [() => followLeases(shared)],
  };
};
