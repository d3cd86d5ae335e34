/** Jobs of sessions: what their pods are told and say, and how they ended. */

import { type Selectable, sql } from 'kysely';
import type { RunnerProfile } from '../../domain/sessions/cluster/cluster-job.ts';
import type { PreparedInventoryFiles, TeardownState } from '../../domain/sessions/job-schema.ts';
import type { SessionReason } from '../../domain/sessions/session-reason.ts';
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

/** Returns the Job of a session on record, or null. */
export async function findSessionJob(db: Db, sessionId: string): Promise<SessionJobRow | null> {
  const row = await db.selectFrom('session_jobs').select(SMALL).where('session_id', '=', sessionId).executeTakeFirst();
  return row ?? null;
}

/** The inventory of a session's Job, or null. */
export async function findJobInventory(db: Db, sessionId: string): Promise<PreparedInventoryFiles | null> {
  const job = db.selectFrom('session_jobs').select('inventory').where('session_id', '=', sessionId);
  return (await job.executeTakeFirst())?.inventory ?? null;
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
  code: SessionReason | null;
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
