/** What is shown of a session besides its record. */

import { sql } from 'kysely';
import type { RunState } from '../../domain/runs/run-states.ts';
import type { StreamState } from '../../domain/runs/stream-schema.ts';
import type { StreamEnd } from '../../domain/sessions/detail-schema.ts';
import type { SessionPhase } from '../../domain/sessions/progress.ts';
import type { SessionStatus, Succeeded } from '../../domain/sessions/schema.ts';
import type { SessionReason } from '../../domain/sessions/session-reason.ts';
import type { Db } from '../connection/database.ts';
import type { SessionJobRow } from './session-jobs.ts';
import type { SessionStage } from './tables.ts';

export interface AttemptRow {
  id: string;
  layer: number;
  attempt: number;
  state: RunState;
  exit_code: number | null;
  error: string | null;
  created_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
}

/** The session's runs in the order in which they were made. */
export async function readAttempts(db: Db, sessionId: string): Promise<AttemptRow[]> {
  return db
    .selectFrom('runs')
    .select(['id', 'layer', 'attempt', 'state', 'exit_code', 'error', 'created_at', 'started_at', 'ended_at'])
    .where('session_id', '=', sessionId)
    .orderBy('attempt')
    .orderBy('layer')
    .execute();
}

/** What is shown of a session's Job: all that is on record but what its pod was given. */
export type ShownJobRow = Pick<
  SessionJobRow,
  | 'name'
  | 'profile'
  | 'exit_codes'
  | 'end_code'
  | 'end_message'
  | 'unverified'
  | 'waiting_since'
  | 'created_at'
  | 'ended_at'
>;

/** The Job of a session; null for one that runs on a worker's own machine. */
export async function readShownJob(db: Db, sessionId: string): Promise<ShownJobRow | null> {
  const row = await db
    .selectFrom('session_jobs')
    .select(['name', 'profile', 'exit_codes', 'end_code', 'end_message', 'unverified'])
    .select(['waiting_since', 'created_at', 'ended_at'])
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
  return row ?? null;
}

/** How a session stands and how far its streams are: everything up to these numbers can be read. */
export interface SessionStreamState extends StreamState<StreamEnd> {
  id: string;
  name: string;
  status: SessionStatus;
  succeeded: Succeeded;
  stage: SessionStage;
  phase: SessionPhase;
  layer: number | null;
  attempt: number;
  message: string;
  reason: SessionReason | null;
  layers: number;
  startTime: Date;
  admittedAt: Date | null;
  completionTime: Date | null;
}

/** State of a session's streams by its id, deleted or not; null when nothing of it is left. */
export async function readStreamState(db: Db, sessionId: string): Promise<SessionStreamState | null> {
  const { rows } = await sql<Omit<SessionStreamState, 'over' | 'end'>>`
    select s.id, s.name, s.status, s.succeeded, s.stage, s.phase, s.layer, s.attempt, s.message, s.reason,
      greatest(jsonb_array_length(s.snapshot->'layers'), (s.snapshot->>'debug_playbook' is not null)::int) as layers,
      s.start_time as "startTime", s.admitted_at as "admittedAt", s.completion_time as "completionTime",
      s.deleted_at is not null as deleted,
      coalesce(t.next_event, 1) - 1 as "lastEvent", coalesce(t.next_chunk, 1) - 1 as "lastChunk"
    from sessions s left join streams t on t.id = s.id::text where s.id = ${sessionId}
  `.execute(db);
  const [row] = rows;
  if (row === undefined) return null;
  const { name, id, status, succeeded, message, reason, deleted } = row;
  const end = { name, id, status, succeeded, message, reason, deleted };
  return { ...row, over: deleted || row.stage === 'ended', end };
}
