/** Part of a test's workflow bundle: work that no machine takes fails after a second. */
import type { WorkflowInterceptors } from '@temporalio/workflow';

export const interceptors = (): WorkflowInterceptors => ({
  outbound: [
    {
      scheduleActivity: (input, next) =>
        next(
          input.options.scheduleToStartTimeout === undefined
            ? input
            : { ...input, options: { ...input.options, scheduleToStartTimeout: '1s' } },
        ),
    },
  ],
});
