import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import { imageJobWorkflowId } from '../../domain/images/workflow-id.ts';
import { endImageJob } from '../../workflows/images/messages.ts';
import { deadlineIn } from '../temporal/deadline.ts';
import type { ImageEngine } from './ports.ts';

/** For one exchange with the engine, ms: a request that is answered waits for it. */
const ANSWER_MS = 3_000;

/** Image jobs in Temporal; `taskQueue` is that of workflows. `answerMs`: for one exchange, default 3,000. */
export function createImageEngine(
  client: Client,
  { taskQueue, answerMs = ANSWER_MS }: { taskQueue: string; answerMs?: number },
): ImageEngine {
  const soon = <T>(work: () => Promise<T>): Promise<T> => client.withDeadline(deadlineIn(answerMs), work);
  const optionsOf = (jobId: string) => ({
    workflowId: imageJobWorkflowId(jobId),
    taskQueue,
    args: [{ jobId }],
    // One that has ended is started again for what is left of its job; the record says what that is.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    staticSummary: 'customises an image',
  });
  return {
    start: (jobId) =>
      soon(async () => {
        try {
          await client.workflow.start(WORKFLOWS.imageJob, { ...optionsOf(jobId), workflowIdConflictPolicy: 'FAIL' });
        } catch (error) {
          if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        }
      }),
    end: (jobId) =>
      soon(async () => {
        await client.workflow.signalWithStart(WORKFLOWS.imageJob, { ...optionsOf(jobId), signal: endImageJob });
      }),
  };
}
