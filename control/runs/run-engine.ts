import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import { endRunWorkflowId } from '../../domain/runs/workflow-id.ts';
import { deadlineIn } from '../temporal/deadline.ts';
import type { RunEngine } from './end-run.ts';

/** For one exchange with the engine, ms: a request waits for it. */
const ANSWER_MS = 3_000;

/** The ends of runs in Temporal; `taskQueue` is that of workflows. */
export function createRunEngine(client: Client, { taskQueue }: { taskQueue: string }): RunEngine {
  return {
    end: ({ id, machine }) =>
      client.withDeadline(deadlineIn(ANSWER_MS), async () => {
        try {
          await client.workflow.start(WORKFLOWS.endRun, {
            workflowId: endRunWorkflowId(id),
            taskQueue,
            args: [{ runId: id, machine }],
            workflowIdReusePolicy: 'ALLOW_DUPLICATE',
            workflowIdConflictPolicy: 'FAIL',
            staticSummary: 'ends a run on its machine',
          });
        } catch (error) {
          if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        }
      }),
  };
}
