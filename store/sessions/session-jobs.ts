/** Jobs of sessions: what their pods are told and say, and how they ended. */
import { type Selectable, sql } from 'kysely';
import type { RunnerProfile } from '../../domain/sessions/cluster/cluster-job.ts';
import type {
  JobOrder,
  JobStep,
  PreparedInventoryFiles,
  StepReport,
  TeardownState,
} from '../../domain/sessions/job-schema.ts';
import type { Db } from '../connection/database.ts';
import type { SessionJobsTable } from './tables.ts';

/** A session's Job without its inventory, which may be megabytes, and is asked for once. */
export type SessionJobRow = Omit<Selectable<SessionJobsTable>, 'inventory' | 'order_body'>;

const SMALL = [
  'session_id',
  'name',
  'profile',
  'leases',
  'order_number',
  'steps',
  'waiting_since',
  'impossible_since',
  'teardown',
  'exit_codes',
  'end_code',
  'end_message',
  'unverified',
  'ended_at',
  'released_at',
  'created_at',
] as const satisfies (keyof SessionJobRow)[];

export interface NewSessionJob {
  sessionId: string;
  name: string;
  profile: RunnerProfile;
  inventory: PreparedInventoryFiles;
  /** Whether the session has to take components before it runs. */
  leases: boolean;
}

/** Records what a session's Job is to be; what is there already is brought up to date. */
export async function saveSessionJob(db: Db, job: NewSessionJob, now: Date): Promise<void> {
  const inventory = JSON.stringify(job.inventory);
  const { sessionId: session_id, name, profile, leases } = job;
  await db
    .insertInto('session_jobs')
    .values({ session_id, name, profile, inventory, leases, created_at: now })
    .onConflict((conflict) => conflict.column('session_id').doUpdateSet({ inventory, leases }))
    .execute();
}

/** Removes what the pod of a session was given; how its Job ended stays. */
export async function clearSessionJob(db: Db, sessionId: string): Promise<void> {
  await db
    .updateTable('session_jobs')
    .set({ inventory: JSON.stringify({ files: {} }), order_body: null })
    .where('session_id', '=', sessionId)
    .execute();
}

export async function findSessionJob(db: Db, sessionId: string): Promise<SessionJobRow | null> {
  const row = await db.selectFrom('session_jobs').select(SMALL).where('session_id', '=', sessionId).executeTakeFirst();
  return row ?? null;
}

/** The inventory of a session's Job, or null. */
export async function findJobInventory(db: Db, sessionId: string): Promise<PreparedInventoryFiles | null> {
  const job = db.selectFrom('session_jobs').select('inventory').where('session_id', '=', sessionId);
  return (await job.executeTakeFirst())?.inventory ?? null;
}

/** Stores the hash of one more token of the session's Job. */
export async function saveJobToken(db: Db, sessionId: string, hash: Buffer, now: Date): Promise<void> {
  await db.insertInto('job_tokens').values({ hash, session_id: sessionId, issued_at: now }).execute();
}

/** The session that a Job's token is of, and when its Job ended (null: it has not). */
export async function findJobOfToken(
  db: Db,
  hash: Buffer,
): Promise<{ sessionId: string; hash: Uint8Array; endedAt: Date | null } | undefined> {
  const row = await db
    .selectFrom('job_tokens')
    .innerJoin('session_jobs', 'session_jobs.session_id', 'job_tokens.session_id')
    .select(['session_jobs.session_id', 'job_tokens.hash', 'session_jobs.ended_at'])
    .where('job_tokens.hash', '=', hash)
    .executeTakeFirst();
  return row && { sessionId: row.session_id, hash: row.hash, endedAt: row.ended_at };
}

/**
 * Gives the pod its next order, unless it is the one that stands; answers whether it was given. A run is ordered only while it is
 * open and the Job goes on: of one that is over somebody may have gone on to the next.
 */
export async function giveOrder(db: Db, sessionId: string, order: JobOrder): Promise<boolean> {
  const body = JSON.stringify(order);
  const next = db
    .updateTable('session_jobs')
    .set({ order_number: sql`order_number + 1`, order_body: body })
    .where('session_id', '=', sessionId)
    .where((eb) => eb.or([eb('order_body', 'is', null), sql<boolean>`order_body <> ${body}::jsonb`]));
  if (order.action === 'finish') return (await next.executeTakeFirst()).numUpdatedRows > 0n;
  const given = await next
    .where('ended_at', 'is', null)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('runs')
          .select('runs.id')
          .where('runs.id', '=', order.run.id)
          .where('runs.state', 'in', ['created', 'started'])
          .forShare(),
      ),
    )
    .executeTakeFirst();
  return given.numUpdatedRows > 0n;
}

/** The newest order with its number, or null. */
export async function findOrder(db: Db, sessionId: string): Promise<{ number: number; order: JobOrder } | null> {
  const row = await db
    .selectFrom('session_jobs')
    .select(['order_number', 'order_body'])
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
  return row?.order_body == null ? null : { number: row.order_number, order: row.order_body };
}

/** Notes what a step says of itself; answers whether it is news. */
export async function noteStep(db: Db, sessionId: string, step: JobStep, report: StepReport): Promise<boolean> {
  const text = JSON.stringify(report);
  const result = await db
    .updateTable('session_jobs')
    .set({ steps: sql`steps || jsonb_build_object(${step}::text, ${text}::jsonb)` })
    .where('session_id', '=', sessionId)
    .where(sql<boolean>`steps -> ${step}::text is distinct from ${text}::jsonb`)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Since when the Job waits for what keeps it from running, and for what can never be; null: it does not. */
export interface JobWait {
  waiting_since: Date | null;
  impossible_since: Date | null;
}

/**
 * Notes whether the Job waits, from `now` on (null: it does not), and whether for what can never be (undefined: as it stands). The
 * first moment of a wait is kept.
 */
export async function noteWaiting(
  db: Db,
  sessionId: string,
  now: Date | null,
  isImpossible?: boolean,
): Promise<JobWait> {
  const impossible = isImpossible ? sql<Date>`coalesce(impossible_since, ${now})` : null;
  const row = await db
    .updateTable('session_jobs')
    .set({
      waiting_since: now === null ? null : sql`coalesce(waiting_since, ${now})`,
      ...(isImpossible === undefined ? {} : { impossible_since: impossible }),
    })
    .where('session_id', '=', sessionId)
    .returning(['waiting_since', 'impossible_since'])
    .executeTakeFirst();
  return row ?? { waiting_since: null, impossible_since: null };
}

/** Lets the `teardown` container go. */
export async function noteTeardown(db: Db, sessionId: string, state: TeardownState): Promise<void> {
  await db
    .updateTable('session_jobs')
    .set({ teardown: JSON.stringify(state) })
    .where('session_id', '=', sessionId)
    .execute();
}

/** Stores exit codes of containers while the Job goes on. */
export async function saveExitCodes(db: Db, sessionId: string, codes: Record<string, number | null>): Promise<void> {
  await db
    .updateTable('session_jobs')
    .set({ exit_codes: JSON.stringify(codes) })
    .where('session_id', '=', sessionId)
    .where('ended_at', 'is', null)
    .execute();
}

/** Adds exit codes that were seen only after the stored end of a Job of which it was not verified that all of it had stopped. */
export async function addExitCodes(db: Db, sessionId: string, codes: Record<string, number | null>): Promise<void> {
  const seen = JSON.stringify(codes);
  await db
    .updateTable('session_jobs')
    .set({ exit_codes: sql`coalesce(exit_codes, '{}'::jsonb) || jsonb_strip_nulls(${seen}::jsonb)` })
    .where('session_id', '=', sessionId)
    .where('unverified', 'is not', null)
    .execute();
}

export interface StoredJobEnd {
  exitCodes: Record<string, number | null>;
  code: string | null;
  message: string;
  /** Why nobody knows whether all of it has stopped; null: it was verified. */
  unverified: string | null;
}

/**
 * Stores how the Job ended, once; what is still unverified may be verified later. Of a Job that is gone with its containers the
 * exit codes stay that were stored while it went on.
 */
export async function saveJobEnd(db: Db, sessionId: string, end: StoredJobEnd, now: Date): Promise<void> {
  const codes = JSON.stringify(end.exitCodes);
  await db
    .updateTable('session_jobs')
    .set({
      exit_codes: sql`case when ${codes}::jsonb = '{}'::jsonb then coalesce(exit_codes, '{}'::jsonb) else ${codes}::jsonb end`,
      end_code: end.code,
      end_message: end.message,
      unverified: end.unverified,
      ended_at: now,
    })
    .where('session_id', '=', sessionId)
    .where('ended_at', 'is', null)
    .execute();
}

/** The Job's finalizers are gone: Kubernetes may forget it. */
export async function noteJobReleased(db: Db, name: string, now: Date): Promise<void> {
  await db
    .updateTable('session_jobs')
    .set({ released_at: now, unverified: null })
    .where('name', '=', name)
    .where('released_at', 'is', null)
    .execute();
}

/** What is known of the session that a Job was made for. */
export interface JobOwner {
  sessionId: string;
  open: boolean;
  deleted: boolean;
  /** Whether a pod of it was ever given a token; before, there was no Job. */
  begun: boolean;
  released: boolean;
  ended: boolean;
  /** Whether it was ended and nobody knows whether all of it has stopped. */
  unverified: boolean;
}

/** Of these Jobs, what is known of their sessions, by the Job's name. */
export async function jobOwners(db: Db, names: string[]): Promise<Map<string, JobOwner>> {
  if (names.length === 0) return new Map();
  const rows = await db
    .selectFrom('session_jobs')
    .innerJoin('sessions', 'sessions.id', 'session_jobs.session_id')
    .select(['session_jobs.name', 'session_jobs.session_id', 'session_jobs.released_at', 'session_jobs.ended_at'])
    .select(['session_jobs.unverified', 'sessions.stage', 'sessions.deleted_at'])
    .select(({ exists, selectFrom }) =>
      exists(
        selectFrom('job_tokens')
          .select('job_tokens.session_id')
          .whereRef('job_tokens.session_id', '=', 'session_jobs.session_id'),
      ).as('begun'),
    )
    .where('session_jobs.name', 'in', names)
    .execute();
  return new Map(
    rows.map((row) => [
      row.name,
      {
        sessionId: row.session_id,
        open: row.stage !== 'ended',
        deleted: row.deleted_at !== null,
        begun: Boolean(row.begun),
        released: row.released_at !== null,
        ended: row.ended_at !== null,
        unverified: row.unverified !== null,
      },
    ]),
  );
}

/** Names of Jobs of ended sessions whose finalizers were never seen to go. */
export async function unreleasedJobs(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('session_jobs')
    .innerJoin('sessions', 'sessions.id', 'session_jobs.session_id')
    .select('session_jobs.name')
    .where('session_jobs.released_at', 'is', null)
    .where('sessions.stage', '=', 'ended')
    .execute();
  return rows.map((row) => row.name);
}

/** Whether any session ran, or runs, as a Job whose end is not settled. */
export async function hasUnsettledJobs(db: Db): Promise<boolean> {
  const row = await db
    .selectFrom('session_jobs')
    .select('name')
    .where('released_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
