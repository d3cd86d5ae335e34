import { randomUUID } from 'node:crypto';
import type { Db } from '../../store/connection/database.ts';
import {
  endScheduleRun,
  insertScheduleRun,
  pruneScheduleRuns,
  startScheduleRun,
} from '../../store/schedules/schedule-runs.ts';
import { holdSchedule } from '../../store/schedules/schedules.ts';

/** Runs that are kept of each schedule, besides those that go on. */
const KEPT = 100;

export interface BeginScheduleRun {
  scheduleId: string;
  /** The time that the run is for. */
  scheduledAt: Date;
  workflowId: string;
}

/**
 * Begins the run of a schedule at a time, once however often it is called, with the action as it is now. Answers its id, or
 * null when there is nothing to do: the schedule is gone or paused, or the run has ended.
 */
export async function beginScheduleRun(
  deps: { db: Db; clock(): Date },
  { scheduleId, scheduledAt, workflowId }: BeginScheduleRun,
): Promise<string | null> {
  const now = deps.clock();
  return deps.db.transaction().execute(async (trx) => {
    // A pause that comes now waits, and then sees the run.
    const schedule = await holdSchedule(trx, scheduleId);
    if (schedule === null) return null;
    const run = await insertScheduleRun(trx, {
      ...{ id: randomUUID(), scheduleId, scheduledAt, byHand: false, requestedBy: null, now },
    });
    await pruneScheduleRuns(trx, scheduleId, KEPT);
    if (schedule.paused && !run.by_hand && run.state === 'requested') {
      // The engine had not heard of the pause yet.
      const error = { code: 'schedule_paused', detail: 'the schedule was paused when its time came' };
      await endScheduleRun(trx, run.id, { state: 'skipped', error, now });
      return null;
    }
    if (run.ended_at !== null) return null;
    await startScheduleRun(trx, run.id, { action: schedule.record.action, workflowId, now });
    return run.id;
  });
}
