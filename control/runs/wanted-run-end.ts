import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import { endRunWorkflowId } from '../../domain/runs/workflow-id.ts';
import type { WantedWorkflow } from '../temporal/tell.ts';

/** The end of a run on its machine. */
export function wantedRunEnd({ id, machine }: { id: string; machine: string }): WantedWorkflow {
  return {
    workflowType: WORKFLOWS.endRun,
    workflowId: endRunWorkflowId(id),
    args: [{ runId: id, machine }],
    staticSummary: 'ends a run on its machine',
  };
}
