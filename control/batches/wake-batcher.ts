import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { BATCHER_WORKFLOW_ID } from '../../domain/batches/workflow-id.ts';
import { MAIN_QUEUE } from '../../domain/engine/task-queues.ts';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import { pokeBatcher } from '../../workflows/batches/messages.ts';

const START = {
  workflowId: BATCHER_WORKFLOW_ID,
  taskQueue: MAIN_QUEUE,
  args: [],
  workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  staticSummary: 'configures what is behind, in batches',
} as const;

/** Starts the batcher; nothing happens when it runs. */
export async function ensureBatcher(client: Client): Promise<void> {
  try {
    await client.workflow.start(WORKFLOWS.batcher, { ...START, workflowIdConflictPolicy: 'FAIL' });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** Asks for a pass now; starts the batcher if it does not run. */
export async function wakeBatcher(client: Client): Promise<void> {
  await client.workflow.signalWithStart(WORKFLOWS.batcher, { ...START, signal: pokeBatcher, signalArgs: [] });
}
