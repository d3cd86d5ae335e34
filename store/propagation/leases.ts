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

/** The condition that a key is held, or that an older plan waits for it, over a reference to the key. */
const isKept = (kind: LeaseKind, key: string, plan: string, since: string, now: Date) => sql<boolean>`(
  exists (select from propagation_leases l where l.kind = ${sql.lit(kind)} and l.key = ${sql.ref(key)})
  or exists (select from propagation_lease_waits w join propagation_plans p on p.id = w.plan
    where w.kind = ${sql.lit(kind)} and w.key = ${sql.ref(key)} and w.plan <> ${plan}::uuid and p.state = 'running'
      and w.seen_at > ${now}::timestamptz - ${FORGOTTEN} and (w.since, w.plan) < (${sql.ref(since)}, ${plan}::uuid)))`;

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
    select n.number, n.id, n.resource, n.target, n.type, n.weight from propagation_plan_nodes n
    where n.plan = ${plan} and n.step = 'ready' and not n.is_idle and not ${rests(now)}
      and (n.type is null or n.type <> all(${fullTypes}::text[]))
      and not ${isKept('resource', 'n.resource', plan, 'n.ready_at', now)}
      and (n.target is null or not ${isKept('target', 'n.target', plan, 'n.ready_at', now)})
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
    with wanted as (
      select k.kind, k.key, min(n.ready_at) as since from propagation_plan_nodes n,
        lateral (values ('target', n.target), ('resource', n.resource)) as k(kind, key)
      where n.plan = ${plan} and n.step = 'ready' and not n.is_idle and not ${rests(now)} and k.key is not null
      group by k.kind, k.key
    ), kept as (
      select w.kind, w.key, w.since from wanted w
      where exists (select from propagation_leases l where l.kind = w.kind and l.key = w.key and l.plan <> ${plan}::uuid)
        or exists (select from propagation_lease_waits o join propagation_plans p on p.id = o.plan
          where o.kind = w.kind and o.key = w.key and o.plan <> ${plan}::uuid and p.state = 'running'
            and o.seen_at > ${now}::timestamptz - ${FORGOTTEN} and (o.since, o.plan) < (w.since, ${plan}::uuid))
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
