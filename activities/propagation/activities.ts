import { advance } from '../../control/propagation/advance.ts';
import { hostQueueOf } from '../../domain/engine/task-queues.ts';
import { AdvancePlanSchema, RunAttemptSchema } from '../../domain/propagation/activity-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { parseInputs } from '../parse-inputs.ts';
import type { AttemptActivities, PlanActivities } from './contract.ts';
import { type RunAttemptDependencies, runAttempt } from './run-attempt.ts';

/** Activities of plans that any worker can do. */
export function createPlanActivities(deps: { db: Db; clock(): Date }): PlanActivities {
  return parseInputs<PlanActivities>(
    { advancePlan: AdvancePlanSchema },
    {
      advancePlan: async (input) => {
        // A step that has begun is brought to its end, also by a worker that stops.
        const { attempts, ...answer } = await withHeartbeat(() => advance(deps, input));
        return {
          ...answer,
          attempts: attempts.map(({ attempt, machine }) => ({
            attempt,
            queue: machine === null ? null : hostQueueOf(machine),
          })),
        };
      },
    },
  );
}

/** Activities of attempts, for the queue of all machines and for that of this machine. */
export function createAttemptActivities(deps: RunAttemptDependencies): AttemptActivities {
  return parseInputs<AttemptActivities>(
    { runAttempt: RunAttemptSchema },
    { runAttempt: (input) => withHeartbeat((signal) => runAttempt(deps, input, signal)) },
  );
}
