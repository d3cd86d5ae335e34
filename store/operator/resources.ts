/** Resources of an operator: what is known of each, and when it runs next. */
import { sql } from 'kysely';
import { type Cause, urgencyOf } from '../../domain/operator/cause.ts';
import type { Gvk } from '../../domain/operator/names.ts';
import type { NotedObject, NotedResource } from '../../domain/operator/note-object.ts';
import type { Db } from '../connection/database.ts';
import { causesWith, notedCause } from './causes.ts';

/** An object and why it makes its resource run; null: only what is known of it is written. */
export interface ObjectNote {
  object: NotedObject;
  cause: { cause: Cause; urgency: number } | null;
}

/** Returns the resources of these objects by their uids, held until the end of the transaction. */
export async function holdResources(
  db: Db,
  operator: string,
  { group, version, kind }: Gvk,
  uids: readonly string[],
  now: Date,
): Promise<Map<string, NotedResource & { isGone: boolean }>> {
  const rows = await db
    .selectFrom('operator_resources as r')
    .leftJoin('operator_reconciles as c', 'c.id', 'r.reconcile_id')
    .selectAll('r')
    .select('c.generation as read_generation')
    .where('r.operator', '=', operator)
    .where('r.api_group', '=', group)
    .where('r.version', '=', version)
    .where('r.kind', '=', kind)
    .where(sql<boolean>`r.uid = any(${uids})`)
    .orderBy('r.id')
    .forUpdate('r')
    .execute();
  return new Map(
    rows.map((row) => [
      row.uid,
      {
        generation: row.generation,
        mark: row.seen_mark,
        deleting: row.deleting,
        doneGeneration: row.done_generation,
        doneMark: row.done_mark,
        doneHash: row.done_hash,
        lastOutcome: row.last_outcome,
        isOpen: row.reconcile_id !== null,
        readGeneration: row.read_generation,
        isDue: row.due_at !== null && row.due_at <= now,
        own: row.own_annotations,
        isGone: row.gone_at !== null,
      },
    ]),
  );
}

/** Writes what is known of objects; one with a cause is due at once, however long it was to wait. */
export async function writeNotes(
  db: Db,
  operator: string,
  { group, version, kind }: Gvk,
  notes: readonly ObjectNote[],
  now: Date,
): Promise<void> {
  if (notes.length === 0) return;
  const rows = JSON.stringify(
    notes.map(({ object, cause }) => ({
      ...object,
      due: cause !== null,
      urgency: cause?.urgency ?? null,
      cause: cause?.cause ?? null,
      causes: cause === null ? null : [notedCause(cause.cause, now)],
    })),
  );
  await sql`
    insert into operator_resources as r (operator, api_group, version, kind, namespace, name, uid, generation, seen_mark, deleting,
      dirty, due_at, due_class, due_reason, cause, causes, phase, reason, own_annotations, created_at, updated_at)
    select ${operator}, ${group}, ${version}, ${kind}, n.namespace, n.name, n.uid, n.generation, n.mark, n.deleting,
      n.due::int, case when n.due then ${now}::timestamptz end, n.urgency, n.cause->>'type', n.cause, n.causes,
      case when n.due then 'queued' else 'waiting' end, n.cause->>'type', n.own, ${now}, ${now}
    from jsonb_to_recordset(${rows}::jsonb) as n(namespace text, name text, uid text, generation bigint, mark text, deleting boolean,
      due boolean, urgency smallint, cause jsonb, causes jsonb, own jsonb)
    on conflict (operator, uid, version, api_group, kind) do update set
      generation = excluded.generation, seen_mark = excluded.seen_mark, deleting = excluded.deleting, updated_at = ${now}, gone_at = null,
      own_annotations = excluded.own_annotations,
      paused_told_at = case when excluded.own_annotations ? 'paused' and (r.own_annotations->'paused', r.own_annotations->'pausedUntil')
        is distinct from (excluded.own_annotations->'paused', excluded.own_annotations->'pausedUntil') then null else r.paused_told_at end,
      dirty = r.dirty + excluded.dirty,
      due_at = case when excluded.dirty = 0 then r.due_at else least(r.due_at, ${now}::timestamptz) end,
      due_class = case when excluded.dirty = 0 then r.due_class
        when r.due_at <= ${now}::timestamptz then least(r.due_class, excluded.due_class) else excluded.due_class end,
      due_reason = case when excluded.dirty = 0 then r.due_reason else excluded.due_reason end,
      cause = case when excluded.dirty = 0 then r.cause else excluded.cause end,
      causes = case when excluded.dirty = 0 then r.causes else ${causesWith(sql`excluded.causes`)} end,
      phase = case when r.reconcile_id is not null or (excluded.dirty = 0 and r.gone_at is null) then r.phase
        when excluded.dirty = 0 then 'waiting' else 'queued' end,
      reason = case when excluded.dirty = 0 or r.reconcile_id is not null then r.reason else excluded.reason end
  `.execute(db);
}

/** Sets the time of resources that were gone and are back: the period of their last run counts from now on. */
export async function renewPeriod(
  db: Db,
  operator: string,
  { group, version, kind }: Gvk,
  uids: readonly string[],
  now: Date,
): Promise<void> {
  if (uids.length === 0) return;
  await sql`
    update operator_resources r set reason = 'waits for a change or its period', due_class = ${urgencyOf('timer')}, due_reason = 'period',
      cause = '{"type":"timer"}', due_at = ${now}::timestamptz + interval '1 second' * (
        select (c.begin ->> 'periodSeconds')::double precision from operator_reconciles c
        where c.resource_id = r.id and c.begin ->> 'does' = 'run' order by c.started_at desc limit 1)
    where r.operator = ${operator} and r.api_group = ${group} and r.version = ${version} and r.kind = ${kind} and r.uid = any(${uids})
      and r.reconcile_id is null and r.due_at is null
  `.execute(db);
}

/** Marks resources whose objects are no more, or no longer ours, with the reason; one that runs is seen to by its reconcile. */
export async function markGone(
  db: Db,
  operator: string,
  { group, version, kind }: Gvk,
  uids: readonly string[],
  reason: string,
  now: Date,
): Promise<void> {
  if (uids.length === 0) return;
  await sql`
    update operator_resources set gone_at = ${now}, updated_at = ${now}, due_at = null, due_class = null,
      phase = case when reconcile_id is null then 'gone' else phase end,
      reason = case when reconcile_id is null then ${reason} else reason end
    where operator = ${operator} and api_group = ${group} and version = ${version} and kind = ${kind} and uid = any(${uids})
      and gone_at is null
  `.execute(db);
}

/** Returns the uids of resources that are not gone and not among `uids`: their objects went while nobody watched. */
export async function missingUids(
  db: Db,
  operator: string,
  { group, version, kind }: Gvk,
  uids: readonly string[],
): Promise<string[]> {
  const rows = await db
    .selectFrom('operator_resources')
    .select('uid')
    .where('operator', '=', operator)
    .where('api_group', '=', group)
    .where('version', '=', version)
    .where('kind', '=', kind)
    .where('gone_at', 'is', null)
    .where(sql<boolean>`not (uid = any(${uids}))`)
    .execute();
  return rows.map(({ uid }) => uid);
}

/** Removes the resources of an operator that went before a time and have no record any more. */
export async function deleteGoneResources(db: Db, operator: string, before: Date): Promise<void> {
  await sql`
    delete from operator_resources r where r.operator = ${operator} and r.gone_at < ${before} and r.reconcile_id is null
      and not exists (select from operator_reconciles c where c.resource_id = r.id)
  `.execute(db);
}
