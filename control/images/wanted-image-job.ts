import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import { imageJobWorkflowId } from '../../domain/images/workflow-id.ts';
import { endImageJob } from '../../workflows/images/messages.ts';
import type { WantedWorkflow } from '../temporal/tell.ts';

/** The work on an image job. A workflow that has ended is started again for what is left of the job; the record says what that is. */
export function wantedImageJob(jobId: string): WantedWorkflow {
  return {
    workflowType: WORKFLOWS.imageJob,
    workflowId: imageJobWorkflowId(jobId),
    args: [{ jobId }],
    staticSummary: 'customises an image',
  };
}

/** The end of an image job that is deleted or ended by order: its workflow looks at the record and cleans up. */
export function endedImageJob(jobId: string): WantedWorkflow {
  return { ...wantedImageJob(jobId), signal: endImageJob };
}
