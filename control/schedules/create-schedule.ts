import { randomUUID } from 'node:crypto';
import type { Acting } from '../../domain/access/acting.ts';
import { musterError } from '../../domain/errors.ts';
import type { ScheduleCreate, ScheduleView } from '../../domain/schedules/schedule-schema.ts';
import { findScheduleById, insertSchedule } from '../../store/schedules/schedules.ts';
import { synced, type WriteScheduleDependencies } from './write-schedule.ts';

/** Makes a schedule. Throws `schedule_exists`. */
export async function createSchedule(
  deps: WriteScheduleDependencies,
  by: Acting,
  { name, paused, ...record }: ScheduleCreate,
): Promise<ScheduleView> {
  const { db } = deps;
  const { actor, operation } = by;
  const id = operation ?? randomUUID();
  const made = await insertSchedule(db, { id, name, record, paused, now: deps.clock(), actor });
  const row = made ?? (operation ? await findScheduleById(db, operation) : null);
  if (row === null) throw musterError('schedule_exists', `A schedule with the name ${name} already exists`);
  return synced(deps, row);
}
