import { type MusterError, musterError } from '../../domain/errors.ts';
import type { ScheduleNext, ScheduleRunView, ScheduleView } from '../../domain/schedules/schedule-schema.ts';
import { wireTime } from '../../domain/text/times.ts';
import type { Db } from '../../store/connection/database.ts';
import { findLastScheduleRuns, findScheduleRun, listScheduleRuns } from '../../store/schedules/schedule-runs.ts';
import { findSchedule, listSchedules, type ScheduleRow } from '../../store/schedules/schedules.ts';
import { mapPage, onePage, type Page } from '../changes/pages.ts';
import { engineSentence } from '../temporal/engine-sentence.ts';
import type { ScheduleEngine } from './schedule-port.ts';
import { scheduleRunView, scheduleView } from './schedule-view.ts';

interface ReadDependencies {
  db: Db;
}

export function scheduleNotFound(name: string): MusterError {
  return musterError('schedule_not_found', `Schedule ${name} could not be found`);
}

/** The schedule of this name. Throws `schedule_not_found`. */
export async function requireSchedule(db: Db, name: string): Promise<ScheduleRow> {
  const row = await findSchedule(db, name);
  if (row === null) throw scheduleNotFound(name);
  return row;
}

/** The schedule with its last run. Throws `schedule_not_found`. */
export async function getSchedule({ db }: ReadDependencies, name: string): Promise<ScheduleView> {
  const row = await requireSchedule(db, name);
  const [last] = await findLastScheduleRuns(db, [row.id]);
  return scheduleView(row, last);
}

/** One page of the schedules, in the order of their names. */
export async function pageOfSchedules(
  { db }: ReadDependencies,
  afterName: string,
  limit: number,
): Promise<Page<ScheduleView>> {
  const page = await onePage(limit, (rows) => listSchedules(db, afterName, rows));
  const ids = page.records.map(({ id }) => id);
  const last = new Map((await findLastScheduleRuns(db, ids)).map((run) => [run.schedule_id, run]));
  return mapPage(page, (row) => scheduleView(row, last.get(row.id)));
}

/** One page of the runs of a schedule, newest first. Throws `schedule_not_found`. */
export async function pageOfScheduleRuns(
  { db }: ReadDependencies,
  name: string,
  afterId: string,
  limit: number,
): Promise<Page<ScheduleRunView>> {
  const { id } = await requireSchedule(db, name);
  const page = await onePage(limit, (rows) => listScheduleRuns(db, id, afterId, rows));
  return mapPage(page, (row) => scheduleRunView(name, row));
}

/** One run of a schedule. Throws `schedule_not_found`, `schedule_run_not_found`. */
export async function getScheduleRun({ db }: ReadDependencies, name: string, runId: string): Promise<ScheduleRunView> {
  const { id } = await requireSchedule(db, name);
  const row = await findScheduleRun(db, runId);
  if (row?.schedule_id !== id) {
    throw musterError('schedule_run_not_found', `Schedule ${name} has no run ${runId}, or none any more`);
  }
  return scheduleRunView(name, row);
}

/**
 * What the engine says of the schedule: at most `count` next times, and what it left out. Throws `schedule_not_found`, and
 * `engine_unavailable` when the engine is away or does not have the schedule yet.
 */
export async function nextTimes(
  { db, schedules }: ReadDependencies & { schedules: ScheduleEngine },
  name: string,
  count: number,
): Promise<ScheduleNext> {
  const row = await requireSchedule(db, name);
  if (row.synced_revision !== row.revision) {
    const why = row.sync_error ?? 'it is being told of it';
    throw musterError('engine_unavailable', `The engine does not have schedule ${name} as it stands yet: ${why}`);
  }
  const found = await schedules.describe(name).catch((error: unknown) => {
    throw musterError('engine_unavailable', `The engine gave no answer for schedule ${name}: ${engineSentence(error)}`);
  });
  if (found === null) {
    throw musterError('engine_unavailable', `The engine has lost schedule ${name}; it gets it again within a minute`);
  }
  return {
    name,
    paused: found.paused,
    times: found.nextTimes.slice(0, count).map(wireTime),
    taken: found.taken,
    skipped_overlap: found.skippedOverlap,
    missed: found.missed,
  };
}
