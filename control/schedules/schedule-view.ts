/** Schedules and their runs as answers show them. */
import type {
  KeptRunResult,
  ScheduleRunResult,
  ScheduleRunView,
  ScheduleView,
} from '../../domain/schedules/schedule-schema.ts';
import { wireTime } from '../../domain/text/times.ts';
import type { ScheduleRunRow } from '../../store/schedules/schedule-runs.ts';
import type { ScheduleRow } from '../../store/schedules/schedules.ts';

export function scheduleView(row: ScheduleRow, lastRun: ScheduleRunRow | undefined): ScheduleView {
  const pausedAt = row.paused_at;
  return {
    id: row.id,
    name: row.name,
    ...row.record,
    paused: row.paused,
    pause: pausedAt === null ? null : { note: row.pause_note, by: row.paused_by, at: wireTime(pausedAt) },
    synced: row.synced_revision === row.revision,
    sync_error: row.sync_error,
    created_at: wireTime(row.created_at),
    updated_at: wireTime(row.updated_at),
    updated_by: row.actor,
    last_run: lastRun === undefined ? null : scheduleRunView(row.name, lastRun),
  };
}

export function scheduleRunView(schedule: string, row: ScheduleRunRow): ScheduleRunView {
  const { error_code: code, error: detail } = row;
  return {
    id: row.id,
    schedule,
    scheduled_at: wireTime(row.scheduled_at),
    state: row.state,
    by_hand: row.by_hand,
    requested_by: row.requested_by,
    started_at: row.started_at && wireTime(row.started_at),
    ended_at: row.ended_at && wireTime(row.ended_at),
    result: row.result && shownResult(row.result),
    error: code === null ? null : { code, detail: detail ?? '' },
  };
}

/** Names say to a user which sessions are meant; the ids are for the run itself. */
function shownResult({ session_ids: _, ...result }: KeptRunResult): ScheduleRunResult {
  return result;
}
