/** Everything that can be said to the workflows of operators. */
import { defineSignal } from '@temporalio/workflow';

/** A resource may be due, or a place free. */
export const resourcesDue = defineSignal('resourcesDue');

/** A reconcile was cancelled whose machine is away: its run is given up. */
export const runGivenUp = defineSignal('runGivenUp');
