import { beginScheduleRun } from '../../control/schedules/begin-schedule-run.ts';
import { cancelScheduleRun, failScheduleRun, followScheduleRun } from '../../control/schedules/end-schedule-run.ts';
import { type PerformDependencies, performScheduleRun } from '../../control/schedules/perform-schedule-run.ts';
import {
  BeginScheduleRunSchema,
  ScheduleRunFailureSchema,
  ScheduleRunRefSchema,
} from '../../domain/schedules/activity-schema.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { type InputSchemas, parseInputs } from '../parse-inputs.ts';
import type { ScheduleRunActivities } from './contract.ts';

const INPUTS: InputSchemas<ScheduleRunActivities> = {
  beginScheduleRun: BeginScheduleRunSchema,
  performScheduleRun: ScheduleRunRefSchema,
  followScheduleRun: ScheduleRunRefSchema,
  failScheduleRun: ScheduleRunFailureSchema,
  cancelScheduleRun: ScheduleRunRefSchema,
};

/** The runs of the user's schedules. */
export function createScheduleActivities(deps: PerformDependencies): ScheduleRunActivities {
  return parseInputs(INPUTS, {
    beginScheduleRun: async ({ scheduleId, scheduledAt, workflowId }) => {
      const runId = await beginScheduleRun(deps, { scheduleId, scheduledAt: new Date(scheduledAt), workflowId });
      return runId === null ? null : { runId };
    },
    performScheduleRun: ({ runId }) => withHeartbeat((signal) => performScheduleRun(deps, runId, signal)),
    followScheduleRun: ({ runId }) => followScheduleRun(deps, runId),
    failScheduleRun: ({ runId, ...error }) => failScheduleRun(deps, runId, error),
    cancelScheduleRun: ({ runId }) => cancelScheduleRun(deps, runId),
  });
}
