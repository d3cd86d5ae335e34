/** Everything that can be said to the driver of a plan, and to the workflow that reads a repository. */
import { defineSignal } from '@temporalio/workflow';

/** Something was asked of the plan, or may go on: make a step soon. */
export const pokePlan = defineSignal('pokePlan');

/** A sync of the repository was asked for. */
export const syncWanted = defineSignal('syncWanted');
