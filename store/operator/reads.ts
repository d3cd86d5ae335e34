/** Operators, what they watch, their resources and records, as readers see them. */
import { type RawBuilder, sql } from 'kysely';
import type { Cause, NotedCause } from '../../domain/operator/cause.ts';
import { BY_ANNOTATION } from '../../domain/operator/own-annotations.ts';
import type { OwnerMark } from '../../domain/operator/owner-mark.ts';
import { type ReconcileBegin, type RunResult, runIdOfReconcile } from '../../domain/operator/reconcile.ts';
import type { Phase, ReconcileOutcome, WatchState } from '../../domain/operator/resource-words.ts';
import type { StreamState } from '../../domain/runs/stream-schema.ts';
import type { Db } from '../connection/database.ts';
import { placesOf, shownReason } from './waits.ts';

export interface ReadOperator {
  name: string;
  version: string;
  home: string;
  /** Whose lease to watch has not ended. */
  watcher: string | null;
  hosts: { machine: string; version: string; slots: number; seenAt: Date; engineReason: string | null }[];
}

/** Returns all operators by name, with their processes. */
export async function listOperators(db: Db, now: Date): Promise<ReadOperator[]> {
  const operators = await db
    .selectFrom('operators')
    .select(['name', 'version', 'home'])
    .select(sql<string | null>`case when watch_lease_until > ${now} then watcher end`.as('watcher'))
    .orderBy('name')
    .execute();
  const processes = await db
    .selectFrom('operator_processes')
    .selectAll()
    .where('left_at', 'is', null)
    .orderBy('machine')
    .execute();
  return operators.map((operator) => ({
    ...operator,
    hosts: processes
      .filter((one) => one.operator === operator.name)
      .map(({ machine, version, slots, seen_at: seenAt, engine_reason: engineReason }) => ({
        ...{ machine, version, slots, seenAt, engineReason },
      })),
  }));
}

export interface ReadWatch {
  operator: string;
  group: string;
  version: string;
  kind: string;
  state: WatchState;
  reason: string | null;
  slots: number;
  finalizer: string | null;
  dependents: { group: string; version: string; kind: string; mark: OwnerMark; reason: string | null }[];
}

/** Returns what operators watch; `operator`: of this one alone. */
export async function listWatches(db: Db, operator: string | undefined): Promise<ReadWatch[]> {
  const { rows } = await sql<ReadWatch>`
    select w.operator, w.api_group as "group", w.version, w.kind, w.state, w.reason, w.slots, w.finalizer, coalesce((
      select jsonb_agg(jsonb_build_object('group', d.api_group, 'version', d.version, 'kind', d.kind, 'mark', d.mark, 'reason', d.reason)
        order by d.api_group, d.version, d.kind, d.mark)
      from operator_dependents d where d.operator = w.operator and d.owner_group = w.api_group and d.owner_version = w.version
        and d.owner_kind = w.kind), '[]') as dependents
    from operator_watches w ${operator === undefined ? sql`` : sql`where w.operator = ${operator}`}
    order by w.operator, w.api_group, w.version, w.kind
  `.execute(db);
  return rows;
}

export interface ReadResource {
  id: string;
  operator: string;
  group: string;
  version: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
  generation: number;
  phase: Phase;
  reason: string | null;
  dueAt: Date | null;
  failures: number;
  paused: boolean;
  pausedUntil: Date | null;
  /** The newest first; null in lists. */
  causes: NotedCause[] | null;
}

/** Whether somebody has paused a resource by the API. */
const isPausedByRequest = (now: Date): RawBuilder<boolean> =>
  sql<boolean>`(r.paused_at is not null and (r.paused_until is null or r.paused_until > ${now}))`;

const annotatedUntil = sql<Date | null>`(r.own_annotations->>'pausedUntil')::timestamptz`;

/** Whether the annotation of a resource pauses it. */
const isPausedByAnnotation = (now: Date): RawBuilder<boolean> =>
  sql<boolean>`coalesce((r.own_annotations->>'paused')::boolean and (${annotatedUntil} is null or ${annotatedUntil} > ${now}), false)`;

/** Whether a resource is paused at a time. A drain goes on in a pause. */
export const isPaused = (now: Date): RawBuilder<boolean> =>
  sql<boolean>`(${isPausedByRequest(now)} or ${isPausedByAnnotation(now)})`;

/** When the pause of a resource ends by itself: a request and an annotation may pause it both. Null: it does not, or there is none. */
export const pausedUntil = (now: Date): RawBuilder<Date | null> =>
  sql<Date | null>`case when (${isPausedByRequest(now)} and r.paused_until is null)
      or (${isPausedByAnnotation(now)} and ${annotatedUntil} is null) then null
    else greatest(case when ${isPausedByRequest(now)} then r.paused_until end, case when ${isPausedByAnnotation(now)} then ${annotatedUntil} end) end`;

/** Who pauses a resource that is paused; null where nobody knows. */
export const pausedBy = (now: Date): RawBuilder<string | null> =>
  sql<string | null>`case when ${isPausedByRequest(now)} then r.paused_by else ${BY_ANNOTATION} end`;

/** A resource that is paused and does nothing is shown so, whatever it waits for besides. */
export const shownPhase = (now: Date): RawBuilder<Phase> =>
  sql<Phase>`case when r.phase in ('running', 'gone') or r.drain is not null or not ${isPaused(now)} then r.phase else 'paused' end`;

const resourceColumns = (
  now: Date,
) => sql`r.id, r.operator, r.api_group as "group", r.version, r.kind, r.namespace, r.name, r.uid,
  r.generation, ${shownPhase(now)} as phase,
  case when ${shownPhase(now)} = 'paused' then 'paused' || coalesce(' by ' || (${pausedBy(now)}), '')
    else ${shownReason(now)} end as reason,
  case when r.due_at is null or not ${isPaused(now)} then r.due_at when ${pausedUntil(now)} is null then null
    else greatest(r.due_at, ${pausedUntil(now)}) end as "dueAt",
  r.failures, ${isPaused(now)} as paused, ${pausedUntil(now)} as "pausedUntil"`;

export interface ResourceFilter {
  operator?: string | undefined;
  kind?: string | undefined;
  namespace?: string | undefined;
  name?: string | undefined;
  phase?: string | undefined;
}

/**
 * Returns at most `limit` resources in order of operator, kind, namespace and name, behind the one with the id `after`. Those that are gone are
 * left out unless their phase is asked for.
 */
export async function listResources(
  db: Db,
  filter: ResourceFilter,
  after: string | null,
  limit: number,
  now: Date,
): Promise<ReadResource[]> {
  const { operator, kind, namespace, name, phase } = filter;
  const all = [
    phase === 'gone' ? sql`r.gone_at is not null` : sql`r.gone_at is null`,
    ...(operator === undefined ? [] : [sql`r.operator = ${operator}`]),
    ...(kind === undefined ? [] : [sql`lower(r.kind) = ${kind.toLowerCase()}`]),
    ...(namespace === undefined ? [] : [sql`r.namespace = ${namespace}`]),
    ...(name === undefined ? [] : [sql`r.name = ${name}`]),
    ...(phase === undefined ? [] : [sql`${shownPhase(now)} = ${phase}`]),
    ...(after === null
      ? []
      : [
          sql`(r.operator, r.api_group, r.version, r.kind, r.namespace, r.name, r.id) >
            (select a.operator, a.api_group, a.version, a.kind, a.namespace, a.name, a.id from operator_resources a where a.id = ${after})`,
        ]),
  ];
  const { rows } = await sql<ReadResource>`
    select ${resourceColumns(now)}, null as causes from operator_resources r ${placesOf(now)} where ${sql.join(all, sql` and `)}
    order by r.operator, r.api_group, r.version, r.kind, r.namespace, r.name, r.id limit ${limit}
  `.execute(db);
  return rows;
}

/** Returns a resource, also one that is gone; null where there is none. */
export async function findResource(db: Db, id: string, now: Date): Promise<ReadResource | null> {
  const { rows } = await sql<ReadResource>`
    select ${resourceColumns(now)}, coalesce(r.causes, '[]') as causes from operator_resources r ${placesOf(now)}
    where r.id = ${id}`.execute(db);
  return rows[0] ?? null;
}

export interface ReadReconcile {
  id: string;
  resourceId: string;
  operator: string;
  group: string;
  version: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
  generation: number | null;
  entryHash: string | null;
  cause: Cause;
  machine: string;
  startedAt: Date;
  endedAt: Date | null;
  begin: ReconcileBegin | null;
  runResult: RunResult | null;
  outcome: ReconcileOutcome | null;
  messages: string[] | null;
  requeueAfterSeconds: number | null;
  requeueReason: string | null;
  runId: string | null;
  cancelledBy: string | null;
  /** Writes on record, and the number of all where that is more. */
  writes: number;
}

const reconcileColumns = sql`c.id, c.resource_id as "resourceId", c.operator, r.api_group as "group", r.version, r.kind, r.namespace, r.name,
  r.uid, c.generation, c.entry_hash as "entryHash", c.cause, c.machine, c.started_at as "startedAt", c.ended_at as "endedAt", c.begin,
  c.run_result as "runResult", c.outcome, c.messages, c.requeue_after_seconds as "requeueAfterSeconds", c.requeue_reason as "requeueReason",
  c.run_id as "runId", c.cancelled_by as "cancelledBy", coalesce((
    select greatest(count(*) filter (where e.type = 'write'), max((e.data ->> 'total')::bigint) filter (where e.type = 'writes'))::int
    from events e where e.stream_id = c.run_id and e.type in ('write', 'writes')), 0) as writes`;

/** Returns at most `limit` records of a resource, newest first, behind the one with the id `after`. */
export async function listReconciles(
  db: Db,
  resourceId: string,
  after: string | null,
  limit: number,
): Promise<ReadReconcile[]> {
  const behind =
    after === null
      ? sql``
      : sql`and (c.started_at, c.id) < (select a.started_at, a.id from operator_reconciles a where a.id = ${after})`;
  const { rows } = await sql<ReadReconcile>`
    select ${reconcileColumns} from operator_reconciles c join operator_resources r on r.id = c.resource_id
    where c.resource_id = ${resourceId} ${behind} order by c.started_at desc, c.id desc limit ${limit}
  `.execute(db);
  return rows;
}

/** Returns a record; null where there is none. */
export async function findReadReconcile(db: Db, id: string): Promise<ReadReconcile | null> {
  const { rows } = await sql<ReadReconcile>`
    select ${reconcileColumns} from operator_reconciles c join operator_resources r on r.id = c.resource_id
    where c.id = ${id}`.execute(db);
  return rows[0] ?? null;
}

/** What the last message of a reconcile's stream says. */
export interface ReconcileEndRead {
  id: string;
  outcome: ReconcileOutcome | null;
  messages: string[];
  deleted: boolean;
}

/** How far the stream of a reconcile can be read; it is over with its record, not with its run. Null where there is no record. */
export async function readReconcileState(db: Db, id: string): Promise<StreamState<ReconcileEndRead> | null> {
  const { rows } = await sql<{
    outcome: ReconcileOutcome | null;
    messages: string[] | null;
    over: boolean;
    lastEvent: number;
    lastChunk: number;
  }>`
    select c.outcome, c.messages, c.ended_at is not null as over, coalesce(t.next_event, 1) - 1 as "lastEvent",
      coalesce(t.next_chunk, 1) - 1 as "lastChunk"
    from operator_reconciles c left join streams t on t.id = ${runIdOfReconcile(id)} where c.id = ${id}
  `.execute(db);
  const [row] = rows;
  if (row === undefined) return null;
  const { outcome, messages, over, lastEvent, lastChunk } = row;
  return { lastEvent, lastChunk, over, deleted: false, end: { id, outcome, messages: messages ?? [], deleted: false } };
}

/** What the gauges of the API show of operators. */
export interface OperatorCounts {
  resources: Partial<Record<Phase, number>>;
  due: number;
  open: number;
  live: number;
}

/** Counts resources by phase, those that are due, reconciles that are open, and operators with a process that was seen since a time. */
export async function countOperators(db: Db, now: Date, seenAfter: Date): Promise<OperatorCounts> {
  const phases = await sql<{ phase: Phase; count: number }>`
    select ${shownPhase(now)} as phase, count(*)::int as count from operator_resources r where r.gone_at is null group by 1
  `.execute(db);
  const { rows } = await sql<Omit<OperatorCounts, 'resources'>>`
    select (select count(*)::int from operator_resources r where r.reconcile_id is null and r.gone_at is null and r.due_at <= ${now}
        and not ${isPaused(now)}) as due,
      (select count(*)::int from operator_reconciles where ended_at is null) as open,
      (select count(distinct operator)::int from operator_processes where seen_at > ${seenAfter} and left_at is null) as live
  `.execute(db);
  const [counts = { due: 0, open: 0, live: 0 }] = rows;
  return { ...counts, resources: Object.fromEntries(phases.rows.map(({ phase, count }) => [phase, count])) };
}
