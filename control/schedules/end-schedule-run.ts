import { isMusterError } from '../../domain/errors.ts';
import { scheduleActor } from '../../domain/schedules/schedule-naming.ts';
import type { KeptRunResult } from '../../domain/schedules/schedule-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { findCheckAnswer } from '../../store/schedules/drift-checks.ts';
import {
  endScheduleRun,
  findScheduleRun,
  noteScheduleRunResult,
  type ScheduleRunRow,
} from '../../store/schedules/schedule-runs.ts';
import { findScheduleById } from '../../store/schedules/schedules.ts';
import { findSessionEnds } from '../../store/sessions/session-ends.ts';
import { findSessionById } from '../../store/sessions/sessions.ts';
import { cancelSession } from '../sessions/cancel-session.ts';
import type { Dispatcher } from '../sessions/engine-port.ts';

export interface EndRunDependencies {
  db: Db;
  clock(): Date;
  dispatcher: Dispatcher;
}

/** Sessions that the reason of a failed run names. */
const NAMED = 5;

/**
 * Looks whether the sessions of a run are complete, and ends the run when all are: it succeeded when each did. Answers
 * whether the run is over; one that was deleted with its schedule is.
 */
export async function followScheduleRun({ db, clock }: EndRunDependencies, runId: string): Promise<boolean> {
  const run = await findScheduleRun(db, runId);
  if (run === null || run.ended_at !== null) return true;
  const names = run.result?.sessions ?? [];
  const ends = await findSessionEnds(db, names, run.result?.session_ids);
  const found = new Map(ends.map((session) => [session.name, session]));
  if ([...found.values()].some(({ status }) => status !== 'complete')) return false;
  const wrong = names.flatMap((name) => {
    const session = found.get(name);
    if (session === undefined) return { code: 'session_deleted', detail: `session ${name} was deleted` };
    const { succeeded, reason, message } = session;
    return succeeded === 'true' ? [] : { code: reason ?? 'session_failed', detail: `session ${name}: ${message}` };
  });
  const detail = wrong.slice(0, NAMED).map((one) => one.detail);
  if (wrong.length > NAMED) detail.push(`and ${wrong.length - NAMED} more`);
  const error = wrong[0] && { code: wrong[0].code, detail: detail.join('; ') };
  await endScheduleRun(db, runId, { state: error ? 'failed' : 'succeeded', error, now: clock() });
  return true;
}

/** Ends a run that could not do what it is for. */
export async function failScheduleRun(
  { db, clock }: EndRunDependencies,
  runId: string,
  error: { code: string; detail: string },
): Promise<void> {
  await endScheduleRun(db, runId, { state: 'failed', error, now: clock() });
}

/** Ends a run that was cancelled, and asks for the end of its sessions; what it did to records stays. */
export async function cancelScheduleRun(deps: EndRunDependencies, runId: string): Promise<void> {
  const run = await findScheduleRun(deps.db, runId);
  const schedule = run && (await findScheduleById(deps.db, run.schedule_id));
  if (!run || !schedule || run.ended_at !== null) return;
  const made = run.result ?? (await notedResult(deps.db, run));
  for (const [index, session] of (made?.sessions ?? []).entries()) {
    try {
      await cancelSession(
        deps,
        { actor: scheduleActor(schedule.name) },
        session,
        `the run of schedule ${schedule.name} was cancelled`,
        made?.session_ids?.[index],
      );
    } catch (error) {
      if (!isMusterError(error) || !['session_complete', 'session_not_found'].includes(error.code)) throw error;
    }
  }
  const detail = 'cancelled by a later run of the schedule, or in the engine';
  await endScheduleRun(deps.db, runId, { state: 'cancelled', error: { code: 'cancelled', detail }, now: deps.clock() });
}

/** Sessions of a run that was broken off between making and noting them, which its record then shows; null when it made none. */
async function notedResult(db: Db, { id, action }: ScheduleRunRow): Promise<KeptRunResult | null> {
  const made = action?.check ? await findCheckAnswer(db, id) : await sessionOf(db, id);
  if (made === null) return null;
  const result = { sessions: made.sessions, session_ids: made.session_ids };
  await noteScheduleRunResult(db, id, result);
  return result;
}

/** The one session of a run has its id. */
async function sessionOf(db: Db, runId: string): Promise<KeptRunResult | null> {
  const session = await findSessionById(db, runId);
  return session && { sessions: [session.name], session_ids: [session.id] };
}
