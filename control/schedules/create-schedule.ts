import { randomUUID } from 'node:crypto';
import { musterError } from '../../domain/errors.ts';
import type { ScheduleCreate, ScheduleView } from '../../domain/schedules/schedule-schema.ts';
import { findScheduleById, insertSchedule } from '../../store/schedules/schedules.ts';
import { synced, type WriteScheduleDependencies } from './write-schedule.ts';

export interface CreateScheduleDependencies extends WriteScheduleDependencies {
  /** Id of the work under an idempotency key: what an earlier try of it has made is answered, not refused. */
  operation?: string | null;
}

/** Makes a schedule. Throws `schedule_exists`. */
export async function createSchedule(
  deps: CreateScheduleDependencies,
  { name, paused, ...record }: ScheduleCreate,
): Promise<ScheduleView> {
  const { db, actor, operation } = deps;
  const id = operation ?? randomUUID();
  const made = await insertSchedule(db, { id, name, record, paused, now: deps.clock(), actor });
  const row = made ?? (operation ? await findScheduleById(db, operation) : null);
  if (row === null) throw musterError('schedule_exists', `A schedule with the name ${name} already exists`);
  return synced(deps, row);
}
