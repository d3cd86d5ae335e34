/** Part of the tests' workflow bundle: work for a machine that is away (its queue says so) is given up in seconds. */
import type { WorkflowInterceptors } from '@temporalio/workflow';

export const interceptors = (): WorkflowInterceptors => ({
  outbound: [
    {
      scheduleActivity: (input, next) =>
        next(
          input.options.taskQueue?.includes('away')
            ? { ...input, options: { ...input.options, scheduleToStartTimeout: '3s' } }
            : input,
        ),
    },
  ],
});
