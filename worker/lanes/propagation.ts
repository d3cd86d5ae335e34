import { createPlanActivities } from '../../activities/propagation/activities.ts';
import { attemptOwner } from '../../control/propagation/attempt-owner.ts';
import { followLeases, sweepPlans } from '../../control/propagation/wake-plans.ts';
import type { WorkerLane } from '../shared/open-shared.ts';

/** Plans: their steps, the sweep that finds plans without a driver, the word that a lease is free. */
export const propagation: WorkerLane = (shared) => ({
  main: createPlanActivities(shared),
  owners: [attemptOwner(shared.db)],
  sweep: () => sweepPlans(shared),
  background: [() => followLeases(shared)],
});
