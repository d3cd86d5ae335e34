/** What the pod of a session's Job asks and hands in: token, order, step, wait. */
import { sql } from 'kysely';
import { OPEN_RUN_STATES } from '../../domain/runs/run-states.ts';
import type { JobOrder, JobStep, StepReport } from '../../domain/sessions/job-schema.ts';
import type { Db } from '../connection/database.ts';

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
          .where('runs.state', 'in', OPEN_RUN_STATES)
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
