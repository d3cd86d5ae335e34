/**
 * Part of the tests' workflow bundle: work for a machine that is away is given up in seconds. That it is away says its queue, or the workflow's
 * own where the machine's has a name that cannot be chosen.
 */
import { type WorkflowInterceptors, workflowInfo } from '@temporalio/workflow';

export const interceptors = (): WorkflowInterceptors => ({
  outbound: [
    {
      scheduleActivity: (input, next) => {
        const machine = input.options.taskQueue;
        const away = machine !== undefined && `${machine} ${workflowInfo().taskQueue}`.includes('away');
        return next(away ? { ...input, options: { ...input.options, scheduleToStartTimeout: '3s' } } : input);
      },
    },
  ],
});
