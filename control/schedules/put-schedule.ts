import { randomUUID } from 'node:crypto';
import type { Acting } from '../../domain/access/acting.ts';
import type { ScheduleBody, ScheduleView } from '../../domain/schedules/schedule-schema.ts';
import { insertSchedule, lockSchedule, updateSchedule } from '../../store/schedules/schedules.ts';
import { synced, type WriteScheduleDependencies } from './write-schedule.ts';

/** Makes the schedule of this name, or replaces what it is told to do; whether it is paused stays, and so do its runs. */
export async function putSchedule(
  deps: WriteScheduleDependencies,
  by: Acting,
  name: string,
  record: ScheduleBody,
): Promise<ScheduleView> {
  const { db } = deps;
  const { actor } = by;
  const now = deps.clock();
  const row = await db.transaction().execute(async (trx) => {
    for (;;) {
      const stored = await lockSchedule(trx, name);
      if (stored !== null) return updateSchedule(trx, stored.id, record, { now, actor });
      // Somebody else may make one of this name at the same moment.
      const made = await insertSchedule(trx, { id: randomUUID(), name, record, paused: false, now, actor });
      if (made !== null) return made;
    }
  });
  return synced(deps, row);
}
