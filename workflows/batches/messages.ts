/** Everything that can be said to the batcher. */
import { defineSignal } from '@temporalio/workflow';

/** Something may have become pending, or may go on: make a pass soon. */
export const pokeBatcher = defineSignal('pokeBatcher');
