import type { Acting } from '../../domain/access/acting.ts';
import type { ScheduleView } from '../../domain/schedules/schedule-schema.ts';
import { pauseSchedule as pauseRecord } from '../../store/schedules/schedules.ts';
import { scheduleNotFound } from './read-schedules.ts';
import { synced, type WriteScheduleDependencies } from './write-schedule.ts';

/**
 * Pauses a schedule with a note, or lets it go on. Times that pass meanwhile are not made up for; a run that goes on is not
 * touched, and one can still be asked for. Throws `schedule_not_found`.
 */
export async function pauseSchedule(
  deps: WriteScheduleDependencies,
  by: Acting,
  name: string,
  { paused, note }: { paused: boolean; note: string },
): Promise<ScheduleView> {
  const { db } = deps;
  const { actor } = by;
  const row = await pauseRecord(db, name, { paused, note, now: deps.clock(), actor });
  if (row === null) throw scheduleNotFound(name);
  return synced(deps, row);
}
