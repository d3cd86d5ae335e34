import { HARDWARE_SYNC_WORKFLOW_ID } from '../../domain/components/hardware-sync.ts';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import type { WantedWorkflow } from '../temporal/tell.ts';

/** The hardware sync, which is always to run where a hardware manager is set. */
export function wantedHardwareSync(taskQueue: string): WantedWorkflow {
  return {
    workflowType: WORKFLOWS.hardwareSync,
    workflowId: HARDWARE_SYNC_WORKFLOW_ID,
    taskQueue,
    args: [],
    staticSummary: 'makes components of the nodes that the hardware manager knows',
  };
}
