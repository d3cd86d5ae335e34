/** Everything that can be said to the workflow of an image job. */
import { defineSignal } from '@temporalio/workflow';

/** The job was deleted or ended by order: look at its record. */
export const endImageJob = defineSignal('endImageJob');
/** The job waits for its turn, which may be free now: ask for it. */
export const turnMayBeFree = defineSignal('turnMayBeFree');
