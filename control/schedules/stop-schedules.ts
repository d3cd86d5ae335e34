import type { Acting } from '../../domain/access/acting.ts';
import type { StopCounts, WantedStop } from '../../domain/lane-stop.ts';
import { endIdleScheduleRuns } from '../../store/schedules/schedule-runs.ts';
import { pauseActiveSchedules, resumeSchedulesPausedAt } from '../../store/schedules/schedules.ts';
import { syncSchedule } from './sync-schedule.ts';
import type { WriteScheduleDependencies } from './write-schedule.ts';

/**
 * Pauses all schedules that are not paused, and then ends the runs that began before and have made no session yet. Temporal is told of each
 * schedule; the sweep tells it where it is away. Returns how many schedules it was.
 */
export async function pauseSchedules(
  deps: WriteScheduleDependencies,
  { actor }: Acting,
  { at, reason }: WantedStop,
): Promise<StopCounts> {
  const names = await pauseActiveSchedules(deps.db, { note: `everything is stopped: ${reason}`, now: at, actor });
  await endIdleScheduleRuns(deps.db, { detail: `everything is stopped: ${reason}`, now: deps.clock() });
  for (const name of names) await syncSchedule(deps, name);
  return { schedules: names.length };
}

/** Lets schedules go on that were paused at these moments. Returns how many it was. */
export async function resumeSchedules(
  deps: WriteScheduleDependencies,
  { actor }: Acting,
  moments: readonly Date[],
): Promise<StopCounts> {
  const names = await resumeSchedulesPausedAt(deps.db, moments, { now: deps.clock(), actor });
  for (const name of names) await syncSchedule(deps, name);
  return { schedules: names.length };
}
