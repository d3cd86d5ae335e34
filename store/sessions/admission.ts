/** Who gets a session slot next. */

import { sql } from 'kysely';
import type { RunnerKind } from '../../domain/runs/runner.ts';
import { firstStep, progressOf, WAITS_FOR_SLOT } from '../../domain/sessions/progress.ts';
import type { SlotHolder } from '../../domain/sessions/slot-wait.ts';
import type { Db } from '../connection/database.ts';
import { addDuration } from '../connection/tallies.ts';
import { announceStream } from '../runs/streams.ts';
import type { SessionRow } from './sessions.ts';

const slotsOf = ({ free, taken }: { free: number; taken: number }) => ({ free, taken });

/** Key of the advisory lock under which slots are given out. */
const ADMISSION_LOCK = 0x6d757374;

/** With what a session is let in. */
export interface Admission {
  /** Name of its Job. */
  job: string;
  /** Sessions that may run at the same time. */
  maxRunning: number;
  now: Date;
  /** Where layers run of a session that does not say it; its record says what it does first. */
  defaultRunner?: RunnerKind | undefined;
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
 */
export async function admit(
  db: Db,
  id: string,
  { job, maxRunning, now, defaultRunner }: Admission,
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
    await trx
      .updateTable('sessions')
      .set({
        stage: 'admitted',
        status: 'running',
        job: sql`coalesce(job, ${job})`,
        admitted_at: now,
        updated_at: now,
        ...progressOf(firstStep(mine, defaultRunner)),
      })
      .where('id', '=', id)
      .execute();
    await announceStream(trx, id);
    await addDuration(trx, 'session_schedule_to_start', (now.getTime() - mine.created_at.getTime()) / 1_000);
    return { state: 'admitted', free: free - 1, taken: taken + 1 };
  });
}

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
export async function forgetQueueMessages(db: Db, now: Date): Promise<void> {
  const message = WAITS_FOR_SLOT;
  await db
    .updateTable('sessions')
    .set({ message, updated_at: now })
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
