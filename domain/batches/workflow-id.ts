/** There is one batcher. */
export const BATCHER_WORKFLOW_ID = 'batcher';
