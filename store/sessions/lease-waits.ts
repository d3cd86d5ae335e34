/**
 * What the records of sessions that wait for components say of whom they wait for. Who keeps whom off is the rule of `leaseBlockers`.
 */

import { sql } from 'kysely';
import type { ErrorCode } from '../../domain/errors.ts';
import type { WantedComponent } from '../../domain/sessions/lease-holders.ts';
import type { Db } from '../connection/database.ts';
import { STREAM_CHANNEL } from '../runs/streams.ts';

/** Key of the advisory lock under which records are reworded: what was found out first is written first. */
const REWORD_LOCK = 0x72657764;
/** Sessions that are looked for at most. */
const FOUND = 10_000;

/** A session that says in its record whom it waits for. */
export interface LeaseWaiter {
  id: string;
  /** For how many components it waits. */
  components: number;
  /** How many sessions wait so, with this one. */
  waiting: number;
}

/** What sessions that wait wait for; sessions are told by their numbers in the line. */
export interface Wanted {
  waiters: { id: string; queue: number }[];
  components: WantedComponent[];
  /** Of all sessions that run or have components. */
  names: { queue: number; name: string }[];
}

/** Whether session `s` says in its record, for this reason, whom it waits for. */
const isTold = (reason: ErrorCode) => sql`s.stage = 'admitted' and s.phase = 'lease' and s.reason = ${reason}
  and s.status <> 'complete' and s.cancel_requested_at is null`;

/** Such a session, for the answer. */
const waiter = (reason: ErrorCode) => sql`s.id,
  (select count(*) from lease_requests where session_id = s.id) as components,
  (select count(*) from sessions s where ${isTold(reason)}) as waiting`;

/** Every session that waits so, the oldest first. */
export async function leaseWaiters(db: Db, reason: ErrorCode): Promise<LeaseWaiter[]> {
  const { rows } = await sql<LeaseWaiter>`
    select ${waiter(reason)} from sessions s where ${isTold(reason)} order by s.queue limit ${FOUND}`.execute(db);
  return rows;
}

/**
 * Those whose record is wrong about one session, the oldest first: it names that session, which keeps them off nothing (any more), or does not,
 * though it does; it names but the first few, so among the latter are some that stand right. That session itself is one of them while it waits.
 */
export async function wrongLeaseWaiters(db: Db, sessionId: string, reason: ErrorCode): Promise<LeaseWaiter[]> {
  const { rows } = await sql<LeaseWaiter>`
    with one as (select id, name, stage, queue from sessions where id = ${sessionId}), its as (
      select component_id, true as has from component_leases where session_id = ${sessionId}
      union all
      select component_id, false from lease_requests where session_id = ${sessionId}
    ), kept_off as (
      select distinct r.session_id from its join lease_requests r using (component_id)
        join sessions s on s.id = r.session_id cross join one
      where (its.has and one.stage <> 'queued') or (one.stage = 'admitted' and one.queue < s.queue)
    )
    select ${waiter(reason)} from sessions s cross join one
    where ${isTold(reason)} and (s.id = one.id or (s.id in (select session_id from kept_off)) <>
      (strpos(s.message, ': ' || one.name || ' (') > 0 or strpos(s.message, ', ' || one.name || ' (') > 0))
    order by s.queue limit ${FOUND}`.execute(db);
  return rows;
}

/**
 * What these sessions wait for now, and who keeps them off it; one whose record somebody else is about to change is left out. Until the
 * transaction ends nobody rewords a record (`writeLeaseWaits`).
 */
export async function lockLeaseWaits(trx: Db, ids: readonly string[], reason: ErrorCode): Promise<Wanted> {
  await sql`select pg_advisory_xact_lock(${REWORD_LOCK})`.execute(trx);
  const { rows: waiters } = await sql<Wanted['waiters'][number]>`
    select s.id, s.queue from sessions s where s.id = any(${ids}::uuid[]) and ${isTold(reason)}
    order by s.id for no key update skip locked`.execute(trx);
  const { rows: components } = await sql<WantedComponent>`
    with wanted as (
      select distinct component_id from lease_requests where session_id = any(${waiters.map(({ id }) => id)}::uuid[])
    ), held as (
      select w.component_id, s.queue from wanted w join component_leases l using (component_id)
        join sessions s on s.id = l.session_id
      where s.stage <> 'queued'
    ), asked as (
      select r.component_id, json_agg(s.queue order by s.queue) as asks from wanted w
        join lease_requests r using (component_id) join sessions s on s.id = r.session_id
      where s.stage = 'admitted' group by r.component_id
    )
    select held.queue as holder, asked.asks from asked left join held using (component_id)`.execute(trx);
  const { rows: names } = await sql<Wanted['names'][number]>`
    select queue, name from sessions
    where stage = 'admitted' or (stage = 'ended' and id in (select session_id from component_leases))`.execute(trx);
  return { waiters, components, names };
}

/** Changes the messages of sessions that say, for this reason, whom they wait for, and of no others. */
export async function writeLeaseWaits(
  trx: Db,
  reason: ErrorCode,
  messages: readonly { id: string; message: string }[],
): Promise<void> {
  await sql`
    with changed as (
      update sessions s set message = said.message, updated_at = now()
      from unnest(${messages.map(({ id }) => id)}::uuid[], ${messages.map(({ message }) => message)}::text[]) as said (id, message)
      where s.id = said.id and ${isTold(reason)} and s.message <> said.message
      returning s.id
    )
    select pg_notify(${STREAM_CHANNEL}, id::text) from changed`.execute(trx);
}
