/** What the engine itself writes to a session: admission, progress, pinned commits, the end. */

import type { Selectable } from 'kysely';
import { type Kysely, sql } from 'kysely';
import { firstStep } from '../../domain/sessions/cluster/cluster-wait.ts';
import type { RunnerKind, Snapshot, Succeeded } from '../../domain/sessions/schema.ts';
import type { SlotHolder } from '../../domain/sessions/slot-wait.ts';
import { deleteRequests, mayBeAtWork, releaseLeases } from '../components/leases.ts';
import type { Db } from '../connection/database.ts';
import { addDuration, countOne } from '../connection/tallies.ts';
import { announceStream, STREAM_CHANNEL } from '../runs/streams.ts';
import type { Database } from '../tables.ts';
import type { SessionsTable } from './tables.ts';

export type SessionRow = Selectable<SessionsTable>;

/** Key of the advisory lock under which slots are given out. */
const ADMISSION_LOCK = 0x6d757374;

/** The session by its id, deleted ones too. */
export async function findSessionById(db: Db, id: string): Promise<SessionRow | null> {
  return (await db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;
}

/** The session by its id, locked until the transaction ends; a deleted one too. */
export async function lockSessionById(trx: Db, id: string): Promise<SessionRow | null> {
  return (await trx.selectFrom('sessions').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()) ?? null;
}

/** The sessions of these ids, deleted ones too. */
export async function findSessionsById(db: Db, ids: string[]): Promise<SessionRow[]> {
  return ids.length === 0 ? [] : db.selectFrom('sessions').selectAll().where('id', 'in', ids).execute();
}

export interface AdmissionResult {
  /** `withdrawn`: there is nothing to let in any more (cancelled, deleted, completed from outside, ended). */
  state: 'admitted' | 'waiting' | 'withdrawn';
  /** Slots that are still free after this decision. */
  free: number;
  /** Slots that are taken. */
  taken: number;
}

/**
 * Takes `running`, `job` and a slot together if a slot is free and nobody waits longer; first come, first served. A
 * session that was admitted before is answered as admitted again. One that has to wait is told so without the lock: who
 * frees a slot, or is let in before it, wakes the next in line afterwards.
 * @param job its name, if it is admitted
 * @param defaultRunner where layers run of a session that does not say it; its record says what it does first
 */
export async function admit(
  db: Kysely<Database>,
  id: string,
  job: (admittedAt: Date) => string,
  maxRunning: number,
  defaultRunner?: RunnerKind,
): Promise<AdmissionResult> {
  const line = await readLine(db, maxRunning, id);
  if (line.waits && (line.free === 0 || line.head !== id)) return { state: 'waiting', ...slotsOf(line) };
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${ADMISSION_LOCK})`.execute(trx);
    // Locked, so that a cancel is either seen here or comes after the slot was taken.
    const mine = await trx.selectFrom('sessions').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
    const { free, taken, head } = await readLine(trx, maxRunning, id);
    if (mine === undefined || isWithdrawn(mine)) return { state: 'withdrawn', free, taken };
    if (mine.stage === 'admitted') return { state: 'admitted', free, taken };
    if (free === 0 || head !== id) return { state: 'waiting', free, taken };
    const now = new Date();
    await trx
      .updateTable('sessions')
      .set({
        stage: 'admitted',
        status: 'running',
        job: sql`coalesce(job, ${job(now)})`,
        admitted_at: now,
        updated_at: now,
        ...firstStep(mine, defaultRunner),
        reason: null,
      })
      .where('id', '=', id)
      .execute();
    await announceStream(trx, id);
    await addDuration(trx, 'session_schedule_to_start', (now.getTime() - mine.created_at.getTime()) / 1_000);
    return { state: 'admitted', free: free - 1, taken: taken + 1 };
  });
}

const slotsOf = ({ free, taken }: { free: number; taken: number }) => ({ free, taken });

/** Free and taken slots, who is next in line, and whether this session is in it. */
async function readLine(
  db: Db,
  maxRunning: number,
  id: string,
): Promise<{ free: number; taken: number; head: string | null; waits: boolean }> {
  const waiting = sql`stage = 'queued' and deleted_at is null and cancel_requested_at is null and status <> 'complete'`;
  const { rows } = await sql<{ running: number; head: string | null; waits: boolean }>`
    select (select count(*) from sessions where stage = 'admitted') as running,
      (select id from sessions where ${waiting} order by queue limit 1) as head,
      exists(select from sessions where id = ${id} and ${waiting}) as waits
  `.execute(db);
  const { running = 0, head = null, waits = false } = rows[0] ?? {};
  return { free: Math.max(0, maxRunning - running), taken: running, head, waits };
}

/** Whether the session is not to be worked on: cancelled, deleted, completed from outside, or ended. */
export function isWithdrawn(session: SessionRow): boolean {
  return (
    session.stage === 'ended' ||
    session.status === 'complete' ||
    session.cancel_requested_at !== null ||
    session.deleted_at !== null
  );
}

/** The session that is next in line, or null. */
export async function queueHead(db: Db): Promise<{ id: string; name: string } | null> {
  const row = await db
    .selectFrom('sessions')
    .select(['id', 'name'])
    .where('stage', '=', 'queued')
    .where('deleted_at', 'is', null)
    .where('cancel_requested_at', 'is', null)
    .where('status', '<>', 'complete')
    .orderBy('queue')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/** Takes back what sessions in line were told of a limit that is another one now; each is told anew at its turn. */
export async function forgetQueueMessages(db: Db): Promise<void> {
  const message = 'waiting for a session slot';
  await db
    .updateTable('sessions')
    .set({ message, updated_at: new Date() })
    .where('stage', '=', 'queued')
    .where('status', '=', 'pending')
    .where('reason', 'is', null)
    .where('cancel_requested_at', 'is', null)
    .where('message', '<>', message)
    .execute();
}

/** How many sessions hold a slot, and those that have theirs longest. */
export async function readSlots(db: Db, most: number): Promise<{ taken: number; holders: SlotHolder[] }> {
  const [taken, holders] = await Promise.all([
    countAdmitted(db),
    db
      .selectFrom('sessions')
      .select(['name as session', sql<Date>`coalesce(admitted_at, created_at)`.as('since')])
      .where('stage', '=', 'admitted')
      .orderBy(sql`coalesce(admitted_at, created_at)`)
      .orderBy('queue')
      .limit(most)
      .execute(),
  ]);
  return { taken, holders };
}

/** How many sessions hold a slot. */
export async function countAdmitted(db: Db): Promise<number> {
  const row = await db
    .selectFrom('sessions')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('stage', '=', 'admitted')
    .executeTakeFirstOrThrow();
  return row.count;
}

export interface Progress {
  phase: string;
  layer?: number | null;
  attempt?: number;
  message: string;
  reason?: string | null;
}

/** Notes which hosts of its limit the inventory of the session does not have. */
export async function writeAbsentHosts(db: Db, id: string, hosts: string[]): Promise<void> {
  await db.updateTable('sessions').set({ absent_hosts: hosts }).where('id', '=', id).execute();
}

/** Writes what the engine does now, unless the session has ended. */
export async function writeProgress(db: Db, id: string, progress: Progress): Promise<void> {
  const changed = await db
    .updateTable('sessions')
    .set({
      phase: progress.phase,
      message: progress.message,
      reason: progress.reason ?? null,
      updated_at: new Date(),
      ...(progress.layer === undefined ? {} : { layer: progress.layer }),
      ...(progress.attempt === undefined ? {} : { attempt: progress.attempt }),
    })
    .where('id', '=', id)
    .where('stage', '<>', 'ended')
    .where('status', '<>', 'complete')
    .executeTakeFirst();
  if (changed.numUpdatedRows > 0n) await announceStream(db, id);
}

/** The reason of sessions that wait for an absent machine; the word is the catalogue's. */
const AWAY = 'runner_gone';

/** Writes `message` to the sessions that have an open run on a machine that is away. */
export async function noteHostAway(db: Kysely<Database>, host: string, message: string): Promise<void> {
  await sql`
    with waiting as (
      update sessions set message = ${message}, reason = ${AWAY}, updated_at = now()
      where stage = 'admitted' and status <> 'complete' and message <> ${message}
        and id in (select session_id from runs where host = ${host} and state in ('created', 'started'))
      returning id
    )
    select pg_notify(${STREAM_CHANNEL}, id::text) from waiting
  `.execute(db);
}

/** Takes back what `noteHostAway` wrote. */
export async function noteHostBack(db: Kysely<Database>, host: string): Promise<void> {
  await sql`
    with running as (
      update sessions set message = 'running layer ' || (layer + 1), reason = null, updated_at = now()
      where stage = 'admitted' and status <> 'complete' and reason = ${AWAY}
        and id in (select session_id from runs where host = ${host} and state in ('created', 'started'))
      returning id
    )
    select pg_notify(${STREAM_CHANNEL}, id::text) from running
  `.execute(db);
}

/** Stores the snapshot with the commits that the clone found. */
export async function writeSnapshot(db: Db, id: string, snapshot: Snapshot): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ snapshot: JSON.stringify(snapshot), updated_at: new Date() })
    .where('id', '=', id)
    .execute();
}

export interface SessionEnd {
  succeeded: Exclude<Succeeded, 'none'>;
  message: string;
  reason: string | null;
}

/**
 * Writes the end once and gives the slot and the leases back. A session that somebody completed from outside keeps what they wrote.
 * Answers whether this call was the one that ended it; if so, `atEnd` was called in the same transaction.
 */
export async function writeEnd(
  db: Kysely<Database>,
  id: string,
  end: SessionEnd,
  atEnd: (trx: Kysely<Database>, session: SessionRow) => Promise<void> = async () => undefined,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const now = new Date();
    await trx
      .updateTable('sessions')
      .set({
        status: 'complete',
        succeeded: end.succeeded,
        completion_time: now,
        message: end.message,
        reason: end.reason,
      })
      .where('id', '=', id)
      .where('status', '<>', 'complete')
      .execute();
    const ended = await trx
      .updateTable('sessions')
      .set({ stage: 'ended', phase: 'done', updated_at: now })
      .where('id', '=', id)
      .where('stage', '<>', 'ended')
      .returningAll()
      .executeTakeFirst();
    if (ended === undefined) return false;
    await atEnd(trx, ended);
    // Of what nobody answers for, nobody knows whether it still works: the sweep gives back what it keeps.
    if (await mayBeAtWork(trx, id, end.succeeded === 'unknown')) await deleteRequests(trx, id);
    else await releaseLeases(trx, id);
    await announceStream(trx, id);
    if (ended.admitted_at !== null) {
      await addDuration(trx, 'session_work', (now.getTime() - ended.admitted_at.getTime()) / 1_000);
    }
    await countOne(trx, 'sessions_ended', ended.succeeded);
    return true;
  });
}

/** Sessions whose engine side has not ended, oldest first, deleted ones too; those younger than `settledBefore` are left out. */
export async function openSessions(db: Db, settledBefore: Date): Promise<SessionRow[]> {
  return db
    .selectFrom('sessions')
    .selectAll()
    .where('stage', '<>', 'ended')
    .where('created_at', '<', settledBefore)
    .orderBy('queue')
    .execute();
}

/**
 * Deleted sessions whose traces are still there and whose work has ended. Those with jobs at an image service are left out until these are deleted;
 * where they were deleted themselves before `givenUpBefore` that is not waited for.
 */
export async function unpurgedSessions(db: Db, limit: number, givenUpBefore = new Date(0)): Promise<{ id: string }[]> {
  return db
    .selectFrom('sessions')
    .select('id')
    .where('deleted_at', 'is not', null)
    .where('purged_at', 'is', null)
    .where('stage', '=', 'ended')
    .where((eb) =>
      eb.or([
        eb('deleted_at', '<', givenUpBefore),
        eb.not(
          eb.exists(
            eb
              .selectFrom('session_images')
              .select('session_images.session_id')
              .whereRef('session_images.session_id', '=', 'sessions.id')
              .where('job_id', 'is not', null),
          ),
        ),
      ]),
    )
    .limit(limit)
    .execute();
}

export async function markPurged(db: Db, id: string): Promise<void> {
  await db.updateTable('sessions').set({ purged_at: new Date() }).where('id', '=', id).execute();
}

/** Removes the rows of sessions that were purged before a time and that no retry names. */
export async function forgetSessions(db: Db, purgedBefore: Date): Promise<void> {
  await sql`
    delete from sessions s where deleted_at is not null and purged_at < ${purgedBefore}
      and not exists (select from sessions retry where retry.retry_of = s.id)
  `.execute(db);
}

/** Whether a name has the shape of a session's id. */
export function isSessionId(name: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name);
}

/** Of these session ids, those without open work: ended, or not on record at all. Names that are no ids are left out. */
export async function endedSessions(db: Db, ids: string[]): Promise<string[]> {
  const plausible = ids.filter(isSessionId);
  if (plausible.length === 0) return [];
  const rows = await db
    .selectFrom('sessions')
    .select('id')
    .where('id', 'in', plausible)
    .where('stage', '<>', 'ended')
    .execute();
  const open = new Set(rows.map((row) => row.id));
  return plausible.filter((id) => !open.has(id));
}
