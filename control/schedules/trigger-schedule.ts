import { randomUUID } from 'node:crypto';
import type { Acting } from '../../domain/access/acting.ts';
import type { ScheduleTriggered } from '../../domain/schedules/schedule-schema.ts';
import {
  insertScheduleRun,
  markScheduleRunDelivered,
  type ScheduleRunRow,
} from '../../store/schedules/schedule-runs.ts';
import type { ScheduleRow } from '../../store/schedules/schedules.ts';
import { engineSentence } from '../temporal/engine-sentence.ts';
import { requireSchedule } from './read-schedules.ts';
import { scheduleRunView } from './schedule-view.ts';
import { type SyncOutcome, type SyncScheduleDependencies, syncSchedule } from './sync-schedule.ts';
import type { WriteScheduleDependencies } from './write-schedule.ts';

/**
 * Asks for a run now, also of a paused schedule. The run is recorded first; where the engine is away it begins when it is
 * back. While another run goes on it waits for its end, unless the schedule lets them overlap. Two of one second are one run.
 * Throws `schedule_not_found`.
 */
export async function triggerSchedule(
  deps: WriteScheduleDependencies,
  by: Acting,
  name: string,
): Promise<ScheduleTriggered> {
  const schedule = await requireSchedule(deps.db, name);
  const now = deps.clock();
  const run = await insertScheduleRun(deps.db, {
    id: randomUUID(),
    scheduleId: schedule.id,
    scheduledAt: new Date(Math.floor(now.getTime() / 1000) * 1000),
    byHand: true,
    requestedBy: by.actor,
    now,
  });
  const { synced, error } = await deliver(deps, schedule, run);
  return { ...scheduleRunView(name, run), synced, sync_error: error };
}

async function deliver(deps: WriteScheduleDependencies, schedule: ScheduleRow, run: ScheduleRunRow) {
  const outcome = await syncSchedule(deps, schedule.name);
  return outcome.synced ? deliverScheduleRun(deps, schedule, run) : outcome;
}

/** Tells the engine to begin a run that was asked for; it has the schedule already. Doing it twice is harmless. */
export async function deliverScheduleRun(
  { db, schedules, log, clock }: SyncScheduleDependencies & { clock(): Date },
  { name, record }: Pick<ScheduleRow, 'name' | 'record'>,
  run: Pick<ScheduleRunRow, 'id' | 'scheduled_at'>,
): Promise<SyncOutcome> {
  try {
    await schedules.trigger({ name, overlap: record.overlap }, run.scheduled_at);
  } catch (error) {
    const sentence = engineSentence(error);
    log.warn({ schedule: name, run: run.id, err: sentence }, 'Temporal was not told of a run; the sweep tells it');
    return { synced: false, error: sentence };
  }
  await markScheduleRunDelivered(db, run.id, clock());
  return { synced: true, error: null };
}
