/**
 * Part of the bundle: a workflow that ends with a cancellation is Canceled in Temporal, whoever asked for it. The SDK says so only where
 * Temporal itself was asked, and calls it failed where one of Muster's own messages did.
 */
import type { WorkflowInterceptors, WorkflowInternalsInterceptor } from '@temporalio/workflow';

type Conclude = NonNullable<WorkflowInternalsInterceptor['concludeActivation']>;
type Command = Parameters<Conclude>[0]['commands'][number];

const asCancelled = (command: Command): Command =>
  command.failWorkflowExecution?.failure?.canceledFailureInfo ? { cancelWorkflowExecution: {} } : command;

export const interceptors = (): WorkflowInterceptors => ({
  internals: [
    {
      concludeActivation: (input, next) => {
        const { commands, ...rest } = next(input);
        return { ...rest, commands: commands.map(asCancelled) };
      },
    },
  ],
});
