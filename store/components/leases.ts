/**
 * Leases: at most one session has a component. A session has all that it needs or none, so that whoever has some can go on;
 * what it waits for is on record, and older sessions come first. Both go when its engine side ends (session-engine.ts).
 */
import { type RawBuilder, sql } from 'kysely';
import { OPEN_RUN_STATES } from '../../domain/runs/run-states.ts';
import type { Db } from '../connection/database.ts';
import { literals } from '../connection/literals.ts';

/** Key of the advisory lock under which leases are given out. */
const LEASE_LOCK = 0x6c656173;

/** A session that has, or waits longer for, components which another one wants, and how many of them. */
export interface LeaseHolder {
  session: string;
  components: number;
}

export interface LeaseBlocker extends LeaseHolder {
  sessionId: string;
  /** It is not let in yet, and who asks is: it gives way, or each would wait for what the other has. */
  yields: boolean;
}

/** Lets one transaction after the other give out leases; until it ends. */
export async function lockLeases(trx: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LEASE_LOCK})`.execute(trx);
}

/** How many of these components the session has. */
export async function countLeases(db: Db, sessionId: string, componentIds: readonly string[]): Promise<number> {
  const { rows } = await sql<{ held: number }>`
    select count(*) as held from component_leases
    where session_id = ${sessionId} and component_id = any(${componentIds})`.execute(db);
  return rows[0]?.held ?? 0;
}

/** Who keeps the session from these components, the one with the most of them first. */
export async function leaseBlockers(
  db: Db,
  sessionId: string,
  componentIds: readonly string[],
): Promise<LeaseBlocker[]> {
  const { rows } = await sql<LeaseBlocker>`
    with mine as (select queue, stage from sessions where id = ${sessionId}), others as (
      select session_id, component_id, true as has from component_leases where component_id = any(${componentIds})
      union all
      select session_id, component_id, false from lease_requests where component_id = any(${componentIds})
    )
    select s.id as "sessionId", s.name as session, count(distinct o.component_id) as components,
      bool_and(s.stage = 'queued' and mine.stage = 'admitted') as yields
    from others o join sessions s on s.id = o.session_id cross join mine
    where s.id <> ${sessionId} and (o.has or (s.stage = 'admitted' and s.queue < mine.queue))
    group by s.id, s.name order by 3 desc, s.name`.execute(db);
  return rows;
}

/**
 * Turns the leases of sessions that are not let in yet into requests, all of each; false when one of them was let in
 * meanwhile, and then nothing is changed.
 */
export async function yieldLeases(trx: Db, sessionIds: readonly string[]): Promise<boolean> {
  if (sessionIds.length === 0) return true;
  const { rows } = await sql`
    select id from sessions where id = any(${sessionIds}::uuid[]) and stage = 'queued' order by id for update
  `.execute(trx);
  if (rows.length < sessionIds.length) return false;
  await sql`
    with given as (
      delete from component_leases where session_id = any(${sessionIds}::uuid[]) returning session_id, component_id
    )
    insert into lease_requests (session_id, component_id, yielded) select session_id, component_id, true from given
  `.execute(trx);
  return true;
}

/** Gives the session these components, which nobody has; it waits for none any more. */
export async function insertLeases(
  trx: Db,
  sessionId: string,
  componentIds: readonly string[],
  now: Date,
): Promise<void> {
  await sql`
    insert into component_leases (component_id, session_id, taken_at)
    select distinct id, ${sessionId}::uuid, ${now}::timestamptz from unnest(${componentIds}::text[]) as id
    on conflict (component_id) do nothing`.execute(trx);
  await deleteRequests(trx, sessionId);
}

/** Notes that the session waits for those of these hosts that are components; answers how many they are. */
export async function requestLeases(db: Db, sessionId: string, hosts: readonly string[]): Promise<number> {
  const { rows } = await sql<{ requested: number }>`
    with wanted as (select id from components where id = any(${hosts})), noted as (
      insert into lease_requests (session_id, component_id, yielded) select ${sessionId}::uuid, id, false from wanted
      on conflict (session_id, component_id) do nothing
    )
    select count(*) as requested from wanted`.execute(db);
  return rows[0]?.requested ?? 0;
}

/** What the session waits for; `yielded` when it had them and gave way. */
export async function requestedLeases(db: Db, sessionId: string): Promise<{ components: string[]; yielded: boolean }> {
  const { rows } = await sql<{ components: string[] | null; yielded: boolean | null }>`
    select array_agg(component_id) as components, bool_or(yielded) as yielded
    from lease_requests where session_id = ${sessionId}`.execute(db);
  return { components: rows[0]?.components ?? [], yielded: rows[0]?.yielded ?? false };
}

export async function deleteRequests(trx: Db, sessionId: string): Promise<void> {
  await trx.deleteFrom('lease_requests').where('session_id', '=', sessionId).execute();
}

/** Whether the session has or waits for any component. */
export async function takesLeases(db: Db, sessionId: string): Promise<{ has: boolean; waits: boolean }> {
  const { rows } = await sql<{ has: boolean; waits: boolean }>`
    select exists(select from component_leases where session_id = ${sessionId}) as has,
      exists(select from lease_requests where session_id = ${sessionId}) as waits`.execute(db);
  return rows[0] ?? { has: false, waits: false };
}

/** Gives back all leases and requests of a session. */
export async function releaseLeases(trx: Db, sessionId: string): Promise<void> {
  await trx.deleteFrom('component_leases').where('session_id', '=', sessionId).execute();
  await deleteRequests(trx, sessionId);
}

/** Whether a run of a session is on record as not ended. */
const hasOpenRun = (id: RawBuilder<unknown>) =>
  sql<boolean>`exists (select from runs where session_id = ${id} and state in ${literals(OPEN_RUN_STATES)})`;

/** Whether a session has a Job of which nobody knows that all of it has stopped. One without a token was never made. */
const hasJobAtWork = (id: RawBuilder<unknown>) => sql<boolean>`exists (
  select from session_jobs j where j.session_id = ${id} and (j.unverified is not null or (j.ended_at is null
    and exists (select from job_tokens where session_id = j.session_id))))`;

/**
 * Whether something of a session that ends may still be at work on its components: its Job, or of one of which nobody knows how it ended an
 * open run.
 */
export async function mayBeAtWork(trx: Db, sessionId: string, isUnknown: boolean): Promise<boolean> {
  const id = sql`${sessionId}::uuid`;
  const { rows } = await sql<{ run: boolean; job: boolean }>`
    select ${hasOpenRun(id)} as run, ${hasJobAtWork(id)} as job`.execute(trx);
  return rows[0]?.job === true || (isUnknown && rows[0]?.run === true);
}

/**
 * Gives back the leases of ended sessions that kept them because a run might be alive: where none is open any more, and no Job at work, or the
 * end is older than `before` (its machine does not come back). Answers whether there were any.
 */
export async function releaseLeftLeases(db: Db, before: Date): Promise<boolean> {
  const id = sql`s.id`;
  const { rows } = await sql`
    delete from component_leases l using sessions s
    where s.id = l.session_id and s.stage = 'ended' and (s.updated_at < ${before}
      or not (${hasOpenRun(id)} or ${hasJobAtWork(id)}))
    returning l.component_id`.execute(db);
  return rows.length > 0;
}

/** Sessions that wait for components, the oldest first. */
export async function waitingForLeases(db: Db): Promise<{ id: string; name: string }[]> {
  const { rows } = await sql<{ id: string; name: string }>`
    select id, name from sessions
    where id in (select session_id from lease_requests) and stage = 'admitted' order by queue`.execute(db);
  return rows;
}

/** Those of them that nobody keeps from what they wait for (`leaseBlockers`) any more. */
export async function freedLeaseWaiters(db: Db): Promise<{ id: string; name: string }[]> {
  const { rows } = await sql<{ id: string; name: string }>`
    with asked as (
      select r.component_id, s.id, s.queue from lease_requests r join sessions s on s.id = r.session_id
      where s.stage = 'admitted'
    ), oldest as (
      select component_id, min(queue) as queue from asked group by component_id
    ), kept_off as (
      select asked.id from asked join component_leases l using (component_id) join sessions s on s.id = l.session_id
      where s.id <> asked.id and s.stage <> 'queued'
      union
      select asked.id from asked join oldest using (component_id) where oldest.queue < asked.queue
    )
    select id, name from sessions
    where id in (select id from asked) and id not in (select id from kept_off) order by queue`.execute(db);
  return rows;
}

/** Of these components, those that a session has, or that a running one waits for. */
export async function leasedComponents(db: Db, componentIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ component_id: string }>`
    select distinct component_id from held_components where component_id = any(${componentIds})`.execute(db);
  return rows.map((row) => row.component_id);
}
