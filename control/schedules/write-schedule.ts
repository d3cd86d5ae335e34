/** What a write of a schedule needs, and what it answers. */

import type { ScheduleView } from '../../domain/schedules/schedule-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { findLastScheduleRuns } from '../../store/schedules/schedule-runs.ts';
import { findScheduleById, type ScheduleRow } from '../../store/schedules/schedules.ts';
import { scheduleView } from './schedule-view.ts';
import { type SyncScheduleDependencies, syncSchedule } from './sync-schedule.ts';

export interface WriteScheduleDependencies extends SyncScheduleDependencies {
  db: Db;
  clock(): Date;
}

/** Tells the engine of a record that is committed, and answers it with whether that worked. */
export async function synced(deps: SyncScheduleDependencies, row: ScheduleRow): Promise<ScheduleView> {
  await syncSchedule(deps, row.name);
  const [last] = await findLastScheduleRuns(deps.db, [row.id]);
  return scheduleView((await findScheduleById(deps.db, row.id)) ?? row, last);
}
