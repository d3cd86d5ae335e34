/** Sessions as the API writes and finds them by name; deleted ones are never seen. What the engine writes is in session-engine.ts. */

import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { Configuration, Options } from '../../domain/configurations/schema.ts';
import { WAITS_FOR_SLOT } from '../../domain/sessions/progress.ts';
import type { SessionMuster, Snapshot, Target } from '../../domain/sessions/schema.ts';
import type { SessionReason } from '../../domain/sessions/session-reason.ts';
import type { PatchableStatus } from '../../domain/sessions/status-patch.ts';
import type { Db } from '../connection/database.ts';
import type { SessionsTable } from './tables.ts';

export interface CreationInputs {
  nameTaken: boolean;
  configuration: Configuration | null;
  /** What was ever set; the defaults fill the rest. */
  options: Partial<Options>;
}

/** What the creation of a session looks at, in one round trip. */
export async function readCreationInputs(db: Db, name: string, configuration: string): Promise<CreationInputs> {
  const { rows } = await sql<{ taken: boolean; configuration: Configuration | null; options: Partial<Options> | null }>`
    select exists(select from sessions where name = ${name} and deleted_at is null) as taken,
      (select record from configurations where name = ${configuration}) as configuration,
      (select record from options) as options
  `.execute(db);
  const row = rows[0];
  return {
    nameTaken: row?.taken ?? false,
    configuration: row?.configuration ?? null,
    options: row?.options ?? {},
  };
}

export interface NewSession {
  id: string;
  name: string;
  configurationName: string;
  configurationLimit: string;
  ansibleConfig: string;
  ansibleLimit: string | null;
  /** Whether the limit is hosts that Muster names, and can mean nothing else; default false. */
  limitOfHosts?: boolean;
  ansibleVerbosity: number;
  ansiblePassthrough: string | null;
  target: Target;
  tags: Record<string, string>;
  debugOnFailure: boolean;
  snapshot: Snapshot;
  muster: SessionMuster | null;
  retryOf: string | null;
  /** The trace in which it is asked for, W3C's `traceparent`. */
  trace?: string | null;
  actor: string | null;
  now: Date;
}

/**
 * Inserts the session with its stream and the message that starts its workflow, all or nothing. Null when a session of
 * the name exists.
 */
export async function insertSession(db: Db, session: NewSession): Promise<SessionRow | null> {
  const { now } = session;
  const row = await db
    .with('made', (query) =>
      query
        .insertInto('sessions')
        .values({
          id: session.id,
          name: session.name,
          configuration_name: session.configurationName,
          configuration_limit: session.configurationLimit,
          ansible_config: session.ansibleConfig,
          ansible_limit: session.ansibleLimit,
          limit_of_hosts: session.limitOfHosts ?? false,
          ansible_verbosity: session.ansibleVerbosity,
          ansible_passthrough: session.ansiblePassthrough,
          target: JSON.stringify(session.target),
          tags: JSON.stringify(session.tags),
          debug_on_failure: session.debugOnFailure,
          status: 'pending',
          succeeded: 'none',
          artifacts: '[]',
          start_time: now,
          message: WAITS_FOR_SLOT,
          stage: 'queued',
          phase: 'queued',
          attempt: 1,
          snapshot: JSON.stringify(session.snapshot),
          muster: session.muster && JSON.stringify(session.muster),
          retry_of: session.retryOf,
          trace: session.trace ?? null,
          actor: session.actor,
          created_at: now,
          updated_at: now,
        })
        // Of the name, or of the id that an earlier try of the same request has used.
        .onConflict((conflict) => conflict.doNothing())
        .returningAll(),
    )
    .with('stream', (query) =>
      query
        .insertInto('streams')
        .columns(['id'])
        .expression((eb) => eb.selectFrom('made').select(sql<string>`made.id::text`.as('id'))),
    )
    .with('message', (query) =>
      query
        .insertInto('outbox')
        .columns(['kind', 'session_id', 'created_at', 'next_try_at'])
        .expression((eb) =>
          eb
            .selectFrom('made')
            .select([sql<'start'>`'start'`.as('kind'), 'made.id', 'made.created_at', 'made.created_at as due']),
        ),
    )
    .selectFrom('made')
    .selectAll()
    .executeTakeFirst();
  return row ?? null;
}

/** The session of that name, or null. */
export async function findSession(db: Db, name: string): Promise<SessionRow | null> {
  const row = await db
    .selectFrom('sessions')
    .selectAll()
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row ?? null;
}

/** The session of that name, locked until the transaction ends, or null. */
export async function lockSession(db: Db, name: string): Promise<SessionRow | null> {
  const row = await db
    .selectFrom('sessions')
    .selectAll()
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

/** Writes the status that a patch of `actor` made; answers the new row. */
export async function updateStatus(
  db: Db,
  id: string,
  status: PatchableStatus,
  { actor, now, ...said }: { actor: string | null; now: Date; message?: string; reason?: SessionReason },
): Promise<SessionRow> {
  return db
    .updateTable('sessions')
    .set({
      ...said,
      status: status.status,
      succeeded: status.succeeded,
      job: status.job,
      ims_job: status.ims_job,
      start_time: status.start_time,
      completion_time: status.completion_time,
      artifacts: JSON.stringify(status.artifacts),
      updated_by: actor,
      updated_at: now,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/**
 * Notes that the session is to be cancelled, with the message that tells its workflow. The first request counts; answers
 * whether this is it.
 */
export async function requestCancel(
  db: Db,
  id: string,
  cancel: { reason: string; message: string; actor: string | null; now: Date },
): Promise<boolean> {
  const { reason, message, actor, now } = cancel;
  const rows = await sql`
    with marked as (
      update sessions set cancel_requested_at = ${now}, cancel_reason = ${reason}, cancel_actor = ${actor},
        message = ${message}, updated_by = ${actor}, updated_at = ${now}
      where id = ${id} and cancel_requested_at is null and stage <> 'ended' returning id
    )
    insert into outbox (kind, session_id, created_at, next_try_at) select 'cancel', id, ${now}, ${now} from marked
    returning session_id
  `.execute(db);
  return rows.rows.length > 0;
}

/** Notes who gave a command to the session's work. */
export async function noteWriter(db: Db, id: string, actor: string | null, now: Date): Promise<void> {
  await db.updateTable('sessions').set({ updated_by: actor, updated_at: now }).where('id', '=', id).execute();
}

/** Name and id of the live sessions that were made as retries of this one, oldest first. */
export async function findRetriesOf(db: Db, id: string): Promise<{ id: string; name: string }[]> {
  return db
    .selectFrom('sessions')
    .select(['id', 'name'])
    .where('retry_of', '=', id)
    .where('deleted_at', 'is', null)
    .orderBy('queue')
    .execute();
}

/** Name of the session with which a chain of retries began; deleted ones count. */
export async function findRootName(db: Db, id: string): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    with recursive chain(id, name, retry_of, depth) as (
      select id, name, retry_of, 0 from sessions where id = ${id}
      union all
      select s.id, s.name, s.retry_of, c.depth + 1 from sessions s join chain c on s.id = c.retry_of
    )
    select name from chain order by depth desc limit 1
  `.execute(db);
  return rows[0]?.name ?? '';
}

/** How many sessions wait before this one. */
export async function countQueuedBefore(db: Db, queue: number): Promise<number> {
  const row = await db
    .selectFrom('sessions')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('stage', '=', 'queued')
    .where('queue', '<', queue)
    .where('deleted_at', 'is', null)
    .where('cancel_requested_at', 'is', null)
    .where('status', '<>', 'complete')
    .executeTakeFirstOrThrow();
  return row.count;
}

export type SessionRow = Selectable<SessionsTable>;

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
