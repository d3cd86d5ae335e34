import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { HARDWARE_SYNC_WORKFLOW_ID } from '../../domain/components/hardware-sync.ts';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';

/** Starts the hardware sync on a task queue; nothing happens when it runs. */
export async function ensureHardwareSync(client: Client, taskQueue: string): Promise<void> {
  try {
    await client.workflow.start(WORKFLOWS.hardwareSync, {
      workflowId: HARDWARE_SYNC_WORKFLOW_ID,
      taskQueue,
      args: [],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
      staticSummary: 'makes components of the nodes that the hardware manager knows',
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
