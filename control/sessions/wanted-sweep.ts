import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import type { WantedWorkflow } from '../temporal/tell.ts';

/** Time (ms) from one pass of the sweep to the next. */
export const SWEEP_MS = 60_000;

/** The sweep, which is always to run. */
export function wantedSweep(): WantedWorkflow {
  return {
    workflowType: WORKFLOWS.sweep,
    workflowId: 'sweep',
    args: [{ everyMs: SWEEP_MS }],
    staticSummary: 'each minute: tells Temporal of records again, ends what nobody owns',
    workflowRunTimeout: '4h',
  };
}
