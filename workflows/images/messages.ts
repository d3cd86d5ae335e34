/** Everything that can be said to the workflow of an image job. */
import { defineSignal } from '@temporalio/workflow';

/** The job was deleted or ended by order: look at its record. */
export const endImageJob = defineSignal('endImageJob');
