import type { Acting } from '../../domain/access/acting.ts';
import type { SchedulePatch, ScheduleView } from '../../domain/schedules/schedule-schema.ts';
import { lockSchedule, updateSchedule } from '../../store/schedules/schedules.ts';
import { scheduleNotFound } from './read-schedules.ts';
import { synced, type WriteScheduleDependencies } from './write-schedule.ts';

/** Changes the given members of a schedule; a run that goes on is not touched. Throws `schedule_not_found`. */
export async function patchSchedule(
  deps: WriteScheduleDependencies,
  by: Acting,
  name: string,
  patch: SchedulePatch,
): Promise<ScheduleView> {
  const { db } = deps;
  const { actor } = by;
  const row = await db.transaction().execute(async (trx) => {
    const stored = await lockSchedule(trx, name);
    if (stored === null) throw scheduleNotFound(name);
    const given = Object.entries(patch).filter(([, value]) => value !== undefined);
    const record = { ...stored.record, ...Object.fromEntries(given) };
    return updateSchedule(trx, stored.id, record, { now: deps.clock(), actor });
  });
  return synced(deps, row);
}
