/** Reconciles: one record each, from admission to its end. */
import { sql } from 'kysely';
import type { After } from '../../domain/operator/after-reconcile.ts';
import { type Cause, urgencyOf } from '../../domain/operator/cause.ts';
import type { Loop } from '../../domain/operator/loop.ts';
import { BY_DELETION, type ReconcileBegin, type RunResult } from '../../domain/operator/reconcile.ts';
import { type DrainMode, RECONCILE_KIND, type ReconcileOutcome } from '../../domain/operator/resource-words.ts';
import type { Db } from '../connection/database.ts';

export interface ReconcileRow {
  id: string;
  resourceId: string;
  operator: string;
  machine: string;
  cause: Cause;
  startedAt: Date;
  endedAt: Date | null;
  begin: ReconcileBegin | null;
  dirtyRead: number | null;
  generation: number | null;
  entryHash: string | null;
  runResult: RunResult | null;
  group: string;
  version: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
  dirty: number;
  failures: number;
  interruptions: number;
  /** The generation that the reconcile before this one has read; null where there is none. */
  lastGeneration: number | null;
  lastOutcome: ReconcileOutcome | null;
  /** Who asked for its end; null where nobody did. */
  cancelledBy: string | null;
  /** How the finalizer of its resource is to go; null where it stays. */
  drain: DrainMode | null;
  /** Of the runs of its resource for dependents. */
  loop: Loop | null;
}

/** Returns a reconcile with its resource; null where there is none. */
export async function findReconcile(db: Db, id: string): Promise<ReconcileRow | null> {
  const row = await db
    .selectFrom('operator_reconciles as c')
    .innerJoin('operator_resources as r', 'r.id', 'c.resource_id')
    .select([
      'c.id',
      'c.resource_id as resourceId',
      'c.operator',
      'c.machine',
      'c.cause',
      'c.started_at as startedAt',
      'c.ended_at as endedAt',
      'c.begin',
    ])
    .select(['c.dirty_read as dirtyRead', 'c.generation', 'c.entry_hash as entryHash', 'c.run_result as runResult'])
    .select(['r.api_group as group', 'r.version', 'r.kind', 'r.namespace', 'r.name', 'r.uid', 'r.dirty'])
    .select(['r.failures', 'r.interruptions'])
    // A run that was interrupted is one of its generation too, though nothing of it is done.
    .select(
      sql<
        number | null
      >`(select p.generation from operator_reconciles p where p.resource_id = c.resource_id and p.id <> c.id
      and p.ended_at is not null and p.generation is not null order by p.started_at desc limit 1)`.as('lastGeneration'),
    )
    .select(['r.last_outcome as lastOutcome', 'r.drain', 'r.dependent_loop as loop', 'c.cancelled_by as cancelledBy'])
    .where('c.id', '=', id)
    .executeTakeFirst();
  return row ?? null;
}

interface BeginRead {
  dirty: number;
  generation: number | null;
  entryHash: string;
  runId: string | null;
  /** Whether the deletion of its resource cancels a run that is none of a finalizer. */
  deletionCancels: boolean;
}

/**
 * Writes what a reconcile does, unless that is decided. A resource that was deleted since the reconcile read it has its run cancelled with the
 * decision: the note of the deletion holds the resource as well, so that one of the two sees the other. Returns what is decided.
 */
export async function writeBegin(
  db: Db,
  { id, resourceId }: Pick<ReconcileRow, 'id' | 'resourceId'>,
  begin: ReconcileBegin,
  read: BeginRead,
  now: Date,
): Promise<ReconcileBegin> {
  return db.transaction().execute(async (trx) => {
    const { deleting } = await trx
      .selectFrom('operator_resources')
      .select('deleting')
      .where('id', '=', resourceId)
      .forUpdate()
      .executeTakeFirstOrThrow();
    const isCancelled = read.deletionCancels && deleting && begin.does === 'run' && !begin.finalizerRun;
    await trx
      .updateTable('operator_reconciles')
      .set({
        begin: JSON.stringify(begin),
        dirty_read: read.dirty,
        generation: read.generation,
        entry_hash: read.entryHash,
        run_id: read.runId,
      })
      .$if(isCancelled, (update) =>
        update.set({
          cancel_requested_at: sql`coalesce(cancel_requested_at, ${now})`,
          cancelled_by: sql`coalesce(cancelled_by, ${BY_DELETION})`,
        }),
      )
      .where('id', '=', id)
      .where('begin', 'is', null)
      .execute();
    const row = await trx
      .selectFrom('operator_reconciles')
      .select('begin')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return row.begin ?? begin;
  });
}

/** Writes how the run of a reconcile ended, once. */
export async function writeRunResult(db: Db, id: string, result: RunResult): Promise<void> {
  await db
    .updateTable('operator_reconciles')
    .set({ run_result: JSON.stringify(result) })
    .where('id', '=', id)
    .where('run_result', 'is', null)
    .execute();
}

export interface ReconcileEnd {
  outcome: ReconcileOutcome;
  messages: string[];
  after: After;
  loop: Loop | null;
  /** Before that time no dependent makes the resource run; null: each does at once. */
  dependentsFrom: Date | null;
}

/**
 * Ends a reconcile, releases its resource and sets its next time, in one transaction. A resource to which something happened since the reconcile
 * read it is due at once. Returns false when the reconcile was over.
 */
export async function endReconcile(
  db: Db,
  reconcile: ReconcileRow,
  { outcome, messages, after, loop, dependentsFrom }: ReconcileEnd,
  now: Date,
): Promise<boolean> {
  const { due } = after;
  const dueAt = due === null ? null : new Date(now.getTime() + due.inSeconds * 1000);
  const drained = outcome === 'ok' && reconcile.begin !== null && 'drained' in reconcile.begin;
  const ran = outcome === 'ok' || outcome === 'failed' || outcome === 'cancelled';
  const dirtyRead = reconcile.dirtyRead ?? 0;
  return db.transaction().execute(async (trx) => {
    const ended = await trx
      .updateTable('operator_reconciles')
      .set({
        ended_at: now,
        outcome,
        messages: JSON.stringify(messages),
        requeue_after_seconds: after.requeueAfterSeconds,
        requeue_reason: after.requeueReason,
      })
      .where('id', '=', reconcile.id)
      .where('ended_at', 'is', null)
      .executeTakeFirst();
    if (ended.numUpdatedRows === 0n) return false;
    // Webhooks are told of the first failure after a success, and of no further try.
    if (outcome === 'failed' && reconcile.failures === 0) await noteFirstFailure(trx, reconcile, now);
    const gone = outcome === 'gone';
    const isSlowed = sql`(r.due_class = ${urgencyOf('dependent')} and ${dependentsFrom}::timestamptz > ${now}::timestamptz)`;
    // What is due before a run for a dependent may begin sees to the dependent as well.
    const isBefore = dueAt !== null && dependentsFrom !== null && dueAt < dependentsFrom;
    const again = sql`r.dirty > ${dirtyRead} and r.gone_at is null and not ${gone} and not coalesce(${isSlowed} and ${isBefore}, false)`;
    const waits = sql`${again} and ${isSlowed}`;
    await sql`
      update operator_resources r set
        reconcile_id = null, updated_at = ${now}, last_outcome = ${outcome},
        failures = ${after.counts.failures}, interruptions = ${after.counts.interruptions},
        done_generation = case when ${ran} then ${reconcile.generation}::bigint else r.done_generation end,
        done_mark = case when ${ran} and r.dirty = ${dirtyRead} then r.seen_mark else r.done_mark end,
        done_hash = case when ${ran} then ${reconcile.entryHash}::text else r.done_hash end,
        dependent_loop = ${loop === null ? null : JSON.stringify(loop)}::jsonb, dependents_from = ${dependentsFrom}::timestamptz,
        due_at = case when ${waits} then ${dependentsFrom}::timestamptz when ${again} then ${now}::timestamptz when r.gone_at is not null or ${gone} then null
          else ${dueAt}::timestamptz end,
        due_class = case when ${again} then coalesce(r.due_class, 1) else ${due?.urgency ?? null}::smallint end,
        due_reason = case when ${again} then coalesce(r.due_reason, ${due?.reason ?? null}::text) else ${due?.reason ?? null}::text end,
        cause = case when ${again} and r.cause is not null then r.cause else ${due === null ? null : JSON.stringify(due.cause)}::jsonb end,
        phase = case when ${waits} then 'waiting' when ${again} then 'queued' when r.gone_at is not null then 'gone' else ${after.phase}::text end,
        reason = case when ${waits} then ${loop?.reason ?? null}::text when ${again} then 'changed during its run' else ${after.reason}::text end,
        gone_at = case when ${gone} then coalesce(r.gone_at, ${now}::timestamptz) else r.gone_at end,
        paused_at = case when ${drained} then ${now}::timestamptz else r.paused_at end,
        paused_until = case when ${drained} then null else r.paused_until end,
        paused_by = case when ${drained} then 'a drain' else r.paused_by end,
        drain = case when ${drained || outcome === 'cancelled'} then null else r.drain end
      where r.id = ${reconcile.resourceId}
    `.execute(trx);
    return true;
  });
}

async function noteFirstFailure(trx: Db, { id, operator }: ReconcileRow, now: Date): Promise<void> {
  await trx.insertInto('operator_failures').values({ reconcile_id: id, operator, failed_at: now }).execute();
}

/** Returns when a run was seen to have begun; null where it was not. */
export async function readRunStart(db: Db, runId: string): Promise<Date | null> {
  const row = await db.selectFrom('runs').select('started_at').where('id', '=', runId).executeTakeFirst();
  return row?.started_at ?? null;
}

/** Returns whether somebody asked for the end of a reconcile. */
export async function isCancelRequested(db: Db, id: string): Promise<boolean> {
  const row = await db.selectFrom('operator_reconciles').select('cancelled_by').where('id', '=', id).executeTakeFirst();
  return (row?.cancelled_by ?? null) !== null;
}

/** Returns the ids of reconciles of these that are not over. */
export async function listOpen(db: Db, ids: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('operator_reconciles')
    .select('id')
    .where(sql<boolean>`id::text = any(${ids})`)
    .where('ended_at', 'is', null)
    .execute();
  return rows.map(({ id }) => id);
}

/** Returns what ansible-runner said of a run, as far as its outcome follows from it, in order. */
export async function readRunnerEvents(
  db: Db,
  runId: string,
): Promise<{ event: string; created?: unknown; event_data?: unknown }[]> {
  const { rows } = await sql<{ runner: { event: string } }>`
    select data->'runner' as runner from events
    where run_id = ${runId} and data ? 'runner' and (
      type = 'stats' or data->'runner'->>'event' in ('runner_on_failed', 'runner_on_unreachable')
      or (data->'runner'->>'event' = 'runner_on_ok' and data->'runner'->'event_data'->'res' ? 'period'))
    order by line
  `.execute(db);
  return rows.map(({ runner }) => runner);
}

export const reconcileOwner = (id: string) => ({ kind: RECONCILE_KIND, id });
