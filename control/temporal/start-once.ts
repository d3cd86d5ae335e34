import { type Client, WorkflowExecutionAlreadyStartedError, type WorkflowStartOptions } from '@temporalio/client';

/**
 * Starts a workflow unless an execution of its id is open; `workflowIdReusePolicy` says whether an id that has ended starts again.
 * Returns whether this call has started it. Throws what Temporal throws.
 */
export async function startOnce(
  client: Client,
  workflowType: string,
  options: Omit<WorkflowStartOptions, 'workflowIdConflictPolicy'>,
): Promise<boolean> {
  try {
    await client.workflow.start(workflowType, { ...options, workflowIdConflictPolicy: 'FAIL' });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}
