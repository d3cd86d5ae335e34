/**
 * Part of the tests' workflow bundle: work for a machine that is away is given up in seconds. That it is away says its queue, or the workflow's
 * own where the machine's has a name that cannot be chosen. The name may say for how long the machine is waited for: `away-6s`; default 3 s.
 */
import { type WorkflowInterceptors, workflowInfo } from '@temporalio/workflow';

const AWAY = /away(?:-(\d+s)\b)?/;

export const interceptors = (): WorkflowInterceptors => ({
  outbound: [
    {
      scheduleActivity: (input, next) => {
        const machine = input.options.taskQueue;
        const away = machine === undefined ? null : AWAY.exec(`${machine} ${workflowInfo().taskQueue}`);
        if (away === null) return next(input);
        return next({ ...input, options: { ...input.options, scheduleToStartTimeout: (away[1] ?? '3s') as '3s' } });
      },
    },
  ],
});
