/** What people ask of resources and reconciles. Everybody writes rows alone; the operator's own process finds them. */
import { sql } from 'kysely';
import type { Cause } from '../../domain/operator/cause.ts';
import type { Gvk } from '../../domain/operator/names.ts';
import type { DrainMode } from '../../domain/operator/resource-words.ts';
import type { Db } from '../connection/database.ts';
import { causesWithOne } from './causes.ts';
import { isPaused, pausedBy, pausedUntil } from './reads.ts';

/** Channel on which it is announced that there is something for an operator; the payload is its name. */
export const OPERATOR_CHANNEL = 'muster_operator';

/** Says that there is something for an operator. */
export async function announceOperator(db: Db, operator: string): Promise<void> {
  await sql`select pg_notify(${OPERATOR_CHANNEL}, ${operator})`.execute(db);
}

/** Where a resource stands that somebody asks something of. */
export interface HeldResource {
  operator: string;
  group: string;
  version: string;
  kind: string;
  namespace: string;
  name: string;
  isGone: boolean;
  isPaused: boolean;
  /** Who pauses it; null where nobody knows. */
  pausedBy: string | null;
  /** The reconcile that is open. */
  reconcileId: string | null;
  /** Whether it waits to run by now, or for another try. */
  waits: boolean;
}

/** Returns a resource, held until the end of the transaction; null where there is none. */
export async function holdResource(db: Db, id: string, now: Date): Promise<HeldResource | null> {
  const { rows } = await sql<HeldResource>`
    select r.operator, r.api_group as "group", r.version, r.kind, r.namespace, r.name, r.gone_at is not null as "isGone",
      ${isPaused(now)} as "isPaused", ${pausedBy(now)} as "pausedBy", r.reconcile_id as "reconcileId",
      r.due_at is not null and (r.due_at <= ${now} or r.phase = 'backing_off') as waits
    from operator_resources r where r.id = ${id} for update
  `.execute(db);
  return rows[0] ?? null;
}

/** The cause of a reconcile that somebody asked for; `by` is null where nobody knows who. */
export function manualCause(by: string | null): Cause {
  return { type: 'manual', ...(by === null ? {} : { by }) };
}

/** Makes a resource due by hand; one that runs does so again at its end. A more urgent cause that waits by then stays. */
export async function writeManualCause(
  db: Db,
  id: string,
  { by, urgency }: { by: string | null; urgency: number },
  now: Date,
): Promise<void> {
  const cause = manualCause(by);
  const stays = sql<boolean>`(due_at <= ${now}::timestamptz and due_class < ${urgency})`;
  await sql`
    update operator_resources r set dirty = dirty + 1, updated_at = ${now}, causes = ${causesWithOne(cause, now)},
      cause = case when ${stays} then cause else ${JSON.stringify(cause)}::jsonb end,
      due_reason = case when ${stays} then due_reason else 'manual' end,
      due_class = case when due_at <= ${now}::timestamptz then least(due_class, ${urgency}) else ${urgency} end,
      due_at = least(due_at, ${now}::timestamptz),
      phase = case when reconcile_id is null then 'queued' else phase end,
      reason = case when reconcile_id is null then 'manual' else reason end
    where id = ${id}
  `.execute(db);
}

/** Pauses a resource from now on, until a time or for good. */
export async function writePause(
  db: Db,
  id: string,
  { by, until }: { by: string | null; until: Date | null },
  now: Date,
): Promise<void> {
  await db
    .updateTable('operator_resources')
    .set({ paused_at: now, paused_until: until, paused_by: by, paused_told_at: null, updated_at: now })
    .where('id', '=', id)
    .execute();
}

/** Ends the pause of a resource. */
export async function writeResume(db: Db, id: string, now: Date): Promise<void> {
  await db
    .updateTable('operator_resources')
    .set({ paused_at: null, paused_until: null, paused_by: null, paused_told_at: null, updated_at: now })
    .where('id', '=', id)
    .execute();
}

/** Asks for the end of an open reconcile; the first request counts. Returns false where it is over. */
export async function requestCancel(db: Db, reconcileId: string, by: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('operator_reconciles')
    .set({
      cancel_requested_at: sql`coalesce(cancel_requested_at, ${now})`,
      cancelled_by: sql`coalesce(cancelled_by, ${by})`,
    })
    .where('id', '=', reconcileId)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Asks for the end of the open reconciles of these objects that run for another reason than a finalizer; the first request counts. One that has
 * not decided yet what it does sees the object as it is then.
 */
export async function cancelOpen(
  db: Db,
  operator: string,
  { group, version, kind }: Gvk,
  uids: readonly string[],
  by: string,
  now: Date,
): Promise<void> {
  if (uids.length === 0) return;
  await sql`
    update operator_reconciles c set cancel_requested_at = coalesce(c.cancel_requested_at, ${now}), cancelled_by = coalesce(c.cancelled_by, ${by})
    from operator_resources r where r.operator = ${operator} and r.api_group = ${group} and r.version = ${version} and r.kind = ${kind}
      and r.uid = any(${uids}) and c.id = r.reconcile_id and c.ended_at is null
      and c.begin ->> 'does' = 'run' and not (c.begin ->> 'finalizerRun')::boolean
  `.execute(db);
}

/**
 * Cancels what a resource waits for before a reconcile of it is open, a drain too: the record says so, and the resource counts as done with what
 * is known of it. It runs again at its next change, at the period of its last run, or by hand.
 */
export async function cancelWaiting(db: Db, id: string, by: string, now: Date): Promise<void> {
  await sql`
    with recorded as (
      insert into operator_reconciles (id, resource_id, operator, machine, cause, started_at, told_at, ended_at, begin, generation, outcome,
        messages, cancel_requested_at, cancelled_by)
      select gen_random_uuid(), r.id, r.operator, '', coalesce(r.cause, '{"type":"timer"}'), ${now}, ${now}, ${now},
        '{"does":"end","outcome":"cancelled"}', r.generation, 'cancelled', '[]', ${now}, ${by}
      from operator_resources r where r.id = ${id}
    ), period as (
      select (c.begin ->> 'periodSeconds')::double precision as seconds from operator_reconciles c
      where c.resource_id = ${id} and c.begin ->> 'does' = 'run' order by c.started_at desc limit 1
    )
    update operator_resources r set updated_at = ${now}, last_outcome = 'cancelled', drain = null, done_generation = r.generation,
      done_mark = r.seen_mark, done_hash = coalesce((select w.entry_hash from operator_watches w where w.operator = r.operator
        and w.api_group = r.api_group and w.version = r.version and w.kind = r.kind), r.done_hash),
      due_at = ${now}::timestamptz + (select seconds from period) * interval '1 second',
      due_class = 5, due_reason = 'period', cause = '{"type":"timer"}', phase = 'waiting', reason = 'cancelled: waits for a change or its period'
    where r.id = ${id}
  `.execute(db);
}

/** Marks the resources of an operator whose entries have a finalizer: it is to go. Returns their number. */
export async function writeDrain(
  db: Db,
  operator: string,
  { mode, by, urgency }: { mode: DrainMode; by: string | null; urgency: number },
  now: Date,
): Promise<number> {
  const cause = manualCause(by);
  const result = await sql`
    update operator_resources r set drain = ${mode}, dirty = r.dirty + 1, updated_at = ${now}, cause = ${JSON.stringify(cause)}::jsonb,
      causes = ${causesWithOne(cause, now)}, due_reason = 'manual', due_class = ${urgency}, due_at = ${now}::timestamptz,
      phase = case when r.reconcile_id is null then 'queued' else r.phase end,
      reason = case when r.reconcile_id is null then 'its finalizer is to go' else r.reason end
    from operator_watches w
    where r.operator = ${operator} and r.gone_at is null and w.operator = r.operator and w.api_group = r.api_group
      and w.version = r.version and w.kind = r.kind and w.finalizer is not null
  `.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}

/** A reconcile of which no process sees to the run any more. */
export interface AbandonedReconcile {
  id: string;
  uid: string;
  version: string;
}

/**
 * Returns the reconciles of an operator whose runs are given up: those that are to be cancelled and whose machine was not seen since a time, so
 * that no process there hears of it, and all of a process that ended, or was not seen since, and took its runs with it.
 */
export async function listAbandoned(db: Db, operator: string, seenAfter: Date): Promise<AbandonedReconcile[]> {
  const { rows } = await sql<AbandonedReconcile>`
    select c.id, r.uid, r.version from operator_reconciles c join operator_resources r on r.id = c.resource_id
    where c.operator = ${operator} and c.ended_at is null and (
      (c.cancel_requested_at is not null and not exists (
        select from operator_processes p where p.operator = c.operator and p.machine = c.machine and p.seen_at > ${seenAfter}))
      or exists (select from operator_processes p where p.operator = c.operator and p.machine = c.machine and not p.outlived
        and (p.left_at is not null or p.seen_at <= ${seenAfter})))
  `.execute(db);
  return rows;
}

/** A resource whose pause no Event has told of. */
export interface UntoldPause {
  id: string;
  group: string;
  version: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
  by: string | null;
  until: Date | null;
}

/** Marks the pauses of an operator that are new as told, and returns them. */
export async function takeUntoldPauses(db: Db, operator: string, now: Date): Promise<UntoldPause[]> {
  const { rows } = await sql<UntoldPause>`
    update operator_resources r set paused_told_at = ${now}
    where r.operator = ${operator} and r.gone_at is null and r.paused_told_at is null and ${isPaused(now)}
    returning r.id, r.api_group as "group", r.version, r.kind, r.namespace, r.name, r.uid, ${pausedBy(now)} as by, ${pausedUntil(now)} as until
  `.execute(db);
  return rows;
}
