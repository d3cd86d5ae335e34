import { advance } from '../../control/propagation/advance.ts';
import { beginSync, failSync } from '../../control/propagation/sync-repository.ts';
import { hostQueueOf } from '../../domain/engine/task-queues.ts';
import {
  AdvancePlanSchema,
  RepositoryRefSchema,
  RunAttemptSchema,
  SyncFailureSchema,
  SyncRefSchema,
} from '../../domain/propagation/activity-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { parseInputs } from '../parse-inputs.ts';
import type { AttemptActivities, PlanActivities, RepositoryActivities } from './contract.ts';
import { type RunAttemptDependencies, runAttempt } from './run-attempt.ts';
import { type SyncRepositoryDependencies, syncRepository } from './sync-repository.ts';

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

/** Activities of repositories that are read from git, for any worker: a commit is read out of a clone of a moment. */
export function createRepositoryActivities(deps: SyncRepositoryDependencies): RepositoryActivities {
  return parseInputs<RepositoryActivities>(
    { beginSync: RepositoryRefSchema, syncRepository: SyncRefSchema, failSync: SyncFailureSchema },
    {
      beginSync: async ({ repository }) => ({ sync: await beginSync(deps.db, repository) }),
      syncRepository: async (input) => ({
        commit: await withHeartbeat((signal) => syncRepository(deps, input, signal)),
      }),
      failSync: (input) => failSync(deps, input),
    },
  );
}
