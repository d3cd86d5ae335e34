import { deleteSchedule as deleteRecord } from '../../store/schedules/schedules.ts';
import { scheduleNotFound } from './read-schedules.ts';
import { type SyncScheduleDependencies, syncSchedule } from './sync-schedule.ts';

/**
 * Deletes a schedule with the record of its runs. What a run has made stays, and its sessions go on; a run that has not
 * begun does nothing more. Where the engine is away it loses the schedule when it is back. Throws `schedule_not_found`.
 */
export async function deleteSchedule(deps: SyncScheduleDependencies, name: string): Promise<void> {
  if (!(await deleteRecord(deps.db, name))) throw scheduleNotFound(name);
  await syncSchedule(deps, name);
}
