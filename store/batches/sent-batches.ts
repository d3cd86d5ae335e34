/** Batches that are sent, beside their sessions. */

import { sql } from 'kysely';
import { controllerFault } from '../../domain/batches/controller-fault.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { SessionStatus, Succeeded } from '../../domain/sessions/schema.ts';
import type { SessionReason } from '../../domain/sessions/session-reason.ts';
import type { Db } from '../connection/database.ts';
import type { SessionStage } from '../sessions/tables.ts';

export interface SentBatch {
  id: string;
  key: string;
  configuration: string;
  /** Comma list of the indices of its layers. */
  layers: string;
  sentAt: Date;
  waitedUntil: Date | null;
  sessionId: string;
  sessionName: string;
  desired: string;
  /** Its session; null when there is none of its id any more. */
  session: SentSession | null;
}

export interface SentSession {
  status: SessionStatus;
  succeeded: Succeeded;
  /** Whether it waits for a slot or for its turn, or admission is held for the disk; not when it is next and could go. */
  waiting: boolean;
  /** Whether it was let in, so that work of it may go on. */
  admitted: boolean;
  message: string;
  /** Code with which Muster ended it for a fault of the controller, or null. */
  fault: ErrorCode | null;
  admittedAt: Date | null;
  /** Members of its limit that its inventory did not have. */
  absent: string[];
}

/** All sent batches, or one, oldest first. `maxRunning`: how many sessions may hold a slot. */
export async function sentBatches(db: Db, maxRunning: number, only?: string): Promise<SentBatch[]> {
  const { rows } = await sql<SentRow>`
    with line as (
      select (select count(*) from sessions where stage = 'admitted') as running,
        (select id from sessions where stage = 'queued' and deleted_at is null and cancel_requested_at is null
          and status <> 'complete' order by queue limit 1) as head
    )
    select b.id, b.key, b.configuration, b.layers, b.sent_at, b.waited_until, b.session_id, b.session_name, b.desired,
      s.id is not null as there, s.status, s.succeeded, s.stage, s.message, s.reason,
      s.cancel_requested_at is not null as cancel_requested, s.admitted_at, s.absent_hosts,
      s.stage = 'queued' and (line.running >= ${maxRunning} or line.head <> s.id or s.reason is not distinct from 'disk_low')
        as waiting
    from line cross join batches b left join sessions s on s.id = b.session_id and s.deleted_at is null
    where b.state = 'sent' ${only === undefined ? sql`` : sql`and b.id = ${only}`}
    order by b.sent_at, b.id`.execute(db);
  return rows.map(toSentBatch);
}

/** Notes the instant at which these batches' sessions were seen waiting. */
export async function noteWaiting(db: Db, batches: readonly string[], now: Date): Promise<void> {
  if (batches.length === 0) return;
  await sql`update batches set waited_until = ${now} where id = any(${batches}::uuid[]) and state = 'sent'`.execute(db);
}

interface SentRow {
  id: string;
  key: string;
  configuration: string;
  layers: string;
  sent_at: Date;
  waited_until: Date | null;
  session_id: string;
  session_name: string;
  desired: string;
  there: boolean;
  status: SessionStatus;
  succeeded: Succeeded;
  stage: SessionStage;
  message: string;
  reason: SessionReason | null;
  cancel_requested: boolean;
  admitted_at: Date | null;
  absent_hosts: string[] | null;
  waiting: boolean | null;
}

function toSentBatch(row: SentRow): SentBatch {
  return {
    id: row.id,
    key: row.key,
    configuration: row.configuration,
    layers: row.layers,
    sentAt: row.sent_at,
    waitedUntil: row.waited_until,
    sessionId: row.session_id,
    sessionName: row.session_name,
    desired: row.desired,
    session: row.there
      ? {
          status: row.status,
          succeeded: row.succeeded,
          waiting: row.waiting ?? false,
          admitted: row.stage !== 'queued',
          message: row.message,
          fault: controllerFault({ ...row, cancelRequested: row.cancel_requested }),
          admittedAt: row.admitted_at,
          absent: row.absent_hosts ?? [],
        }
      : null,
  };
}
