/** Everything that can be said to the driver of a plan. */
import { defineSignal } from '@temporalio/workflow';

/** Something was asked of the plan, or may go on: make a step soon. */
export const pokePlan = defineSignal('pokePlan');
