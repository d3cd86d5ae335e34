/** Leases of targets and resources, of which each is held by one attempt, in all plans; and who waits for them. */
import { type Insertable, sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import type { LeaseKind, LeasesTable } from './plan-tables.ts';

/** Where it is announced that a lease is free for which a plan waits. */
export const LEASE_CHANNEL = 'muster_propagation_leases';

const LEASE_LOCK = 7_414_041;

/** Until the transaction ends, no other transaction takes leases or gives some back. Taken behind all other locks. */
export async function lockLeases(trx: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(LEASE_LOCK)})`.execute(trx);
}

/** A plan that has not looked for so long counts as nobody that waits. */
const FORGOTTEN = sql`interval '2 minutes'`;

export interface Candidate {
  number: number;
  id: string;
  resource: string;
  target: string | null;
  type: string | null;
  weight: number;
}

/** The keys of a kind that are held; it depends on no node, so that it is read once and not for each of them. */
const held = (kind: LeaseKind) => sql`(select l.key from propagation_leases l where l.kind = ${sql.lit(kind)})`;

/** Of each key that other plans wait for, the plan that has waited longest. */
const firstWaits = (plan: string, now: Date) => sql`
  select distinct on (w.kind, w.key) w.kind, w.key, w.since, w.plan
  from propagation_lease_waits w join propagation_plans p on p.id = w.plan
  where w.plan <> ${plan}::uuid and p.state = 'running' and w.seen_at > ${now}::timestamptz - ${FORGOTTEN}
  order by w.kind, w.key, w.since, w.plan`;

/** The condition that the plan of a row of first waits, if there is one, has not waited since before a moment. */
const isNotBehind = (first: string, plan: string, since: string) =>
  sql<boolean>`((${sql.ref(`${first}.since`)}, ${sql.ref(`${first}.plan`)}) < (${sql.ref(since)}, ${plan}::uuid)) is not true`;

/** Whether something is to run that executes something. */
export async function hasReady(db: Db, plan: string): Promise<boolean> {
  const query = db.selectFrom('propagation_plan_nodes').select('number').where('plan', '=', plan);
  const ready = query.where('step', '=', sql.lit('ready')).where('is_idle', '=', false);
  return (await ready.limit(1).executeTakeFirst()) !== undefined;
}

/** The condition that a node rests until it is tried again, over the alias `n`. */
const rests = (now: Date) =>
  sql<boolean>`coalesce(n.status = 'error_retry' and n.ready_at > ${now}::timestamptz, false)`;

export interface Ready {
  /** Whether something is to run now that executes something. */
  waits: boolean;
  /** When the first of those that rest is tried again. */
  retry_at: Date | null;
}

/** Returns what of a plan is to run and has not begun. */
export async function findReady(trx: Db, plan: string, now: Date): Promise<Ready> {
  const { rows } = await sql<Ready>`
    select coalesce(bool_or(not ${rests(now)}), false) as waits, min(n.ready_at) filter (where ${rests(now)}) as retry_at
    from propagation_plan_nodes n where n.plan = ${plan} and n.step = 'ready' and not n.is_idle`.execute(trx);
  return rows[0] ?? { waits: false, retry_at: null };
}

export interface Search {
  limit: number;
  /** Definitions of which no further action may start. */
  fullTypes: readonly string[];
  now: Date;
}

/** Returns nodes that are to run and whose leases are free, the heaviest first. The caller holds the leases. */
export async function findCandidates(trx: Db, plan: string, { limit, fullTypes, now }: Search): Promise<Candidate[]> {
  const { rows } = await sql<Candidate>`
    with first_waits as materialized (${firstWaits(plan, now)})
    select n.number, n.id, n.resource, n.target, n.type, n.weight from propagation_plan_nodes n
      left join first_waits r on r.kind = 'resource' and r.key = n.resource
      left join first_waits t on t.kind = 'target' and t.key = n.target
    where n.plan = ${plan} and n.step = 'ready' and not n.is_idle and not ${rests(now)}
      and (n.type is null or n.type <> all(${fullTypes}::text[]))
      and n.resource not in ${held('resource')} and ${isNotBehind('r', plan, 'n.ready_at')}
      and (n.target is null or n.target not in ${held('target')}) and ${isNotBehind('t', plan, 'n.ready_at')}
    order by n.weight desc, n.id limit ${limit}`.execute(trx);
  return rows;
}

/** Returns what of a plan is in progress. */
export async function findRunning(trx: Db, plan: string): Promise<Omit<Candidate, 'weight'>[]> {
  const query = trx.selectFrom('propagation_plan_nodes').select(['number', 'id', 'resource', 'target', 'type']);
  return query.where('plan', '=', plan).where('status', '=', sql.lit('in_progress')).execute();
}

/** Takes leases that are free. The caller holds the leases. */
export async function takeLeases(trx: Db, rows: readonly Insertable<LeasesTable>[]): Promise<void> {
  for (let at = 0; at < rows.length; at += 1_000) {
    await trx
      .insertInto('propagation_leases')
      .values(rows.slice(at, at + 1_000))
      .execute();
  }
}

/** Gives the leases of attempts back, and announces it where a plan waits for one. The caller holds the leases. */
export async function dropLeases(trx: Db, attempts: readonly string[]): Promise<void> {
  if (attempts.length === 0) return;
  await sql`
    with gone as (delete from propagation_leases where attempt = any(${attempts}::uuid[]) returning kind, key)
    select pg_notify(${LEASE_CHANNEL}, '') from gone g
    where exists (select from propagation_lease_waits w where w.kind = g.kind and w.key = g.key)
    limit 1`.execute(trx);
}

/** Writes down for which keys a plan waits: those of nodes that are to run and that another plan holds. The caller holds the leases. */
export async function noteWaits(trx: Db, plan: string, now: Date): Promise<void> {
  await sql`
    with first_waits as materialized (${firstWaits(plan, now)}),
    others as materialized (
      select l.kind, l.key from propagation_leases l where l.plan <> ${plan}::uuid
      union select f.kind, f.key from first_waits f
    ), wanted as (
      select k.kind, k.key, min(n.ready_at) as since from propagation_plan_nodes n,
        lateral (values ('target', n.target), ('resource', n.resource)) as k(kind, key)
      where n.plan = ${plan} and n.step = 'ready' and not n.is_idle and not ${rests(now)}
        and (k.kind, k.key) in (select o.kind, o.key from others o)
        -- Where no other plan is at work, no node is read.
        and exists (select from others)
      group by k.kind, k.key
    ), kept as (
      select w.kind, w.key, w.since from wanted w left join first_waits f on f.kind = w.kind and f.key = w.key
      where exists (select from propagation_leases l where l.kind = w.kind and l.key = w.key and l.plan <> ${plan}::uuid)
        or not ${isNotBehind('f', plan, 'w.since')}
    ), gone as (
      delete from propagation_lease_waits w where w.plan = ${plan}
        and not exists (select from kept k where k.kind = w.kind and k.key = w.key) returning w.kind, w.key
    ), told as (
      select pg_notify(${LEASE_CHANNEL}, '') from gone g
      where exists (select from propagation_lease_waits o where o.kind = g.kind and o.key = g.key and o.plan <> ${plan}::uuid)
      limit 1
    ), noted as (
      insert into propagation_lease_waits (kind, key, plan, since, seen_at)
      select kind, key, ${plan}::uuid, since, ${now} from kept
      on conflict (kind, key, plan) do update set since = excluded.since, seen_at = excluded.seen_at
      returning 1
    )
    select (select count(*) from told) + (select count(*) from noted) as written`.execute(trx);
}

/** The plan waits for nothing any more. Those that have waited behind it are told. */
export async function forgetWaits(trx: Db, plan: string): Promise<void> {
  await sql`
    with gone as (delete from propagation_lease_waits where plan = ${plan} returning kind, key)
    select pg_notify(${LEASE_CHANNEL}, '') from gone g
    where exists (select from propagation_lease_waits o where o.kind = g.kind and o.key = g.key and o.plan <> ${plan}::uuid)
    limit 1`.execute(trx);
}

/** Returns the running plans of which each is the first that waits for a key that nobody holds. */
export async function findWakeable(db: Db, now: Date): Promise<string[]> {
  const { rows } = await sql<{ plan: string }>`
    select distinct plan from (
      select distinct on (w.kind, w.key) w.plan from propagation_lease_waits w join propagation_plans p on p.id = w.plan
      where p.state = 'running' and w.seen_at > ${now}::timestamptz - ${FORGOTTEN}
        and not exists (select from propagation_leases l where l.kind = w.kind and l.key = w.key)
      order by w.kind, w.key, w.since, w.plan
    ) as first`.execute(db);
  return rows.map(({ plan }) => plan);
}

/** Returns the attempts of a plan that have leases though they have ended: their runs were not seen to be gone. */
export async function findHeldAttempts(db: Db, plan: string): Promise<string[]> {
  const query = db.selectFrom('propagation_leases').select('attempt').distinct().where('plan', '=', plan);
  return (await query.orderBy('attempt').execute()).map(({ attempt }) => attempt);
}
