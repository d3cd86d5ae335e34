/** Nodes of plans as their driver reads and writes them: always a few, by key. */
import { type Insertable, sql } from 'kysely';
import type { Outcome } from '../../domain/propagation/event-schema.ts';
import { NODE_STATUSES, type NodeStatus } from '../../domain/propagation/plan-schema.ts';
import type { NodeStep } from '../../domain/propagation/plan-states.ts';
import type { Summary } from '../../domain/propagation/report.ts';
import type { EdgeGroup } from '../../domain/propagation/verdict.ts';
import type { Db } from '../connection/database.ts';
import type { PlanEdgesTable, PlanNodeRow, PlanNodesTable } from './plan-tables.ts';

/** Rows in one statement: it may have 65,535 values. */
const CHUNK = 1_000;

export async function insertNodes(trx: Db, rows: readonly Insertable<PlanNodesTable>[]): Promise<void> {
  for (let at = 0; at < rows.length; at += CHUNK) {
    await trx
      .insertInto('propagation_plan_nodes')
      .values(rows.slice(at, at + CHUNK))
      .execute();
  }
}

export async function insertEdges(trx: Db, rows: readonly Insertable<PlanEdgesTable>[]): Promise<void> {
  for (let at = 0; at < rows.length; at += CHUNK) {
    await trx
      .insertInto('propagation_plan_edges')
      .values(rows.slice(at, at + CHUNK))
      .execute();
  }
}

/** Returns at most `limit` nodes whose emitters have all ended, in canonical order. */
export async function findDue(trx: Db, plan: string, limit: number): Promise<PlanNodeRow[]> {
  const query = trx.selectFrom('propagation_plan_nodes').selectAll().where('plan', '=', plan);
  return query.where('step', '=', sql.lit('due')).orderBy('number').limit(limit).execute();
}

/** Returns at most `limit` nodes that are to run and execute nothing. */
export async function findReadyIdle(trx: Db, plan: string, limit: number): Promise<PlanNodeRow[]> {
  const query = trx.selectFrom('propagation_plan_nodes').selectAll().where('plan', '=', plan);
  const ready = query.where('step', '=', sql.lit('ready')).where('is_idle', '=', true);
  return ready.orderBy('weight', 'desc').orderBy('id').limit(limit).execute();
}

export async function findNodes(db: Db, plan: string, numbers: readonly number[]): Promise<PlanNodeRow[]> {
  if (numbers.length === 0) return [];
  const query = db.selectFrom('propagation_plan_nodes').selectAll().where('plan', '=', plan);
  return query.where('number', '=', sql<number>`any(${numbers}::int[])`).orderBy('number').execute();
}

interface GroupRow {
  target: number;
  grp: number;
  type: EdgeGroup['type'];
  on_outcome: EdgeGroup['on'];
  node: string;
  occurrence: 0 | 1;
  status: NodeStatus;
  outcome: Outcome | null;
}

/** Returns the events into these nodes as decisions read them. */
export async function findGroups(db: Db, plan: string, numbers: readonly number[]): Promise<Map<number, EdgeGroup[]>> {
  const { rows } = await sql<GroupRow>`
    select e.target, e.grp, e.type, e.on_outcome, n.id as node, n.occurrence, n.status, n.outcome
    from propagation_plan_edges e join propagation_plan_nodes n on n.plan = e.plan and n.number = e.source
    where e.plan = ${plan} and e.target = any(${numbers}::int[])
    order by e.target, e.grp, e.source`.execute(db);
  const groups = new Map<number, Map<number, EdgeGroup & { from: EdgeGroup['from'][number][] }>>();
  for (const { target, grp, type, on_outcome, ...emitter } of rows) {
    const into = groups.get(target) ?? new Map();
    groups.set(target, into);
    const group = into.get(grp) ?? { type, on: on_outcome, from: [] };
    into.set(grp, group);
    group.from.push(emitter);
  }
  return new Map([...groups].map(([target, into]) => [target, [...into.values()]]));
}

/** How a node stands from now on. */
export interface NodeChange {
  number: number;
  status: NodeStatus;
  outcome: Outcome | null;
  step: NodeStep | null;
  reason: string | null;
  message: string | null;
  code: string | null;
  attempts: number;
  attempt: string | null;
  blocked_by: readonly string[];
  triggered_by: readonly { node: string; outcome: Outcome }[];
  ready_at: Date | null;
  start_time: Date | null;
  end_time: Date | null;
}

/** Writes how nodes stand from now on, all in one statement. */
export async function writeNodes(trx: Db, plan: string, changes: readonly NodeChange[]): Promise<void> {
  if (changes.length === 0) return;
  await sql`
    update propagation_plan_nodes as n set status = c.status, outcome = c.outcome, step = c.step, reason = c.reason,
      message = c.message, code = c.code, attempts = c.attempts, attempt = c.attempt, blocked_by = c.blocked_by,
      triggered_by = c.triggered_by, ready_at = c.ready_at, start_time = c.start_time, end_time = c.end_time
    from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as c(number int, status text, outcome text, step text,
      reason text, message text, code text, attempts int, attempt uuid, blocked_by jsonb, triggered_by jsonb,
      ready_at timestamptz, start_time timestamptz, end_time timestamptz)
    where n.plan = ${plan} and n.number = c.number
      -- How many rows a list in JSON has is not known beforehand: without this, all nodes of the plan are read.
      and n.number = any(${changes.map(({ number }) => number)}::int[])`.execute(trx);
}

/** Lowers the counters of what follows nodes that have just ended; what waits for nothing more is due. */
export async function settleFollowers(trx: Db, plan: string, ended: readonly number[]): Promise<void> {
  if (ended.length === 0) return;
  await sql`
    update propagation_plan_nodes as n set open = n.open - f.edges,
      step = case when n.open = f.edges and n.status = 'pending' then 'due' else n.step end
    from (
      select target, count(*)::int as edges from propagation_plan_edges
      where plan = ${plan} and source = any(${ended}::int[]) group by target
    ) as f
    where n.plan = ${plan} and n.number = f.target`.execute(trx);
}

/** Returns all occurrences of actions. */
export async function findOccurrences(
  db: Db,
  plan: string,
  bases: readonly string[],
): Promise<Pick<PlanNodeRow, 'id' | 'base' | 'occurrence' | 'status' | 'outcome'>[]> {
  if (bases.length === 0) return [];
  return db
    .selectFrom('propagation_plan_nodes')
    .select(['id', 'base', 'occurrence', 'status', 'outcome'])
    .where('plan', '=', plan)
    .where('base', '=', sql<string>`any(${bases}::text[])`)
    .execute();
}

/** Passes over everything that has not started; nothing is to be decided any more. */
export async function skipOpen(trx: Db, plan: string, now: Date): Promise<void> {
  await sql`
    update propagation_plan_nodes set status = 'skipped', step = null, reason = null, end_time = ${now}
    where plan = ${plan} and status in ('pending', 'error_retry')`.execute(trx);
}

/**
 * Puts nodes with these statuses back, with a new budget of attempts; what an operator marked as done stays. `errors`: ids of those that
 * failed and may be put back; null for all. Failures that a second occurrence has mended stay as they are.
 */
export async function putBack(
  trx: Db,
  plan: string,
  statuses: readonly NodeStatus[],
  errors: readonly string[] | null,
): Promise<void> {
  await sql`
    update propagation_plan_nodes as n set status = 'pending', outcome = null, step = null, reason = null, message = null, code = null,
      attempts_before = n.attempts, attempt = null, blocked_by = '[]', triggered_by = '[]', ready_at = null,
      start_time = null, end_time = null
    where n.plan = ${plan} and n.status = any(${statuses}::text[]) and n.reason is distinct from 'operator'
      and (n.status <> 'error' or ((${errors}::text[] is null or n.id = any(${errors}::text[]))
        and not exists (select from propagation_plan_nodes later where later.plan = n.plan and later.base = n.base
          and later.occurrence > n.occurrence and later.outcome in ('created', 'changed', 'ok'))))`.execute(trx);
  await count(trx, plan);
}

/** Counts anew what each pending node waits for. */
async function count(trx: Db, plan: string): Promise<void> {
  await sql`
    update propagation_plan_nodes as n set open = w.open, step = case when w.open = 0 then 'due' end
    from (
      select p.number, count(s.number)::int as open from propagation_plan_nodes p
        left join propagation_plan_edges e on e.plan = p.plan and e.target = p.number
        left join propagation_plan_nodes s on s.plan = e.plan and s.number = e.source
          and s.status in ('pending', 'in_progress', 'error_retry')
      where p.plan = ${plan} and p.status = 'pending' group by p.number
    ) as w
    where n.plan = ${plan} and n.number = w.number`.execute(trx);
}

/** Returns the number of nodes by status. */
export async function countStatuses(db: Db, plan: string): Promise<Summary> {
  const { rows } = await sql<{ status: NodeStatus; nodes: number }>`
    select status, count(*)::int as nodes from propagation_plan_nodes where plan = ${plan} group by status`.execute(db);
  const counts = Object.fromEntries(NODE_STATUSES.map((status) => [status, 0])) as Summary;
  for (const { status, nodes } of rows) counts[status] = nodes;
  return counts;
}

/** Returns the nodes that say how a plan has ended: of actions that did not all pass, and second occurrences. */
export async function findEnds(
  db: Db,
  plan: string,
): Promise<Pick<PlanNodeRow, 'id' | 'base' | 'occurrence' | 'origin' | 'status' | 'outcome'>[]> {
  return db
    .selectFrom('propagation_plan_nodes')
    .select(['id', 'base', 'occurrence', 'origin', 'status', 'outcome'])
    .where('plan', '=', plan)
    .where(
      sql<boolean>`base in (select base from propagation_plan_nodes
        where plan = ${plan} and (status not in ('success', 'noop') or occurrence = 1))`,
    )
    .execute();
}

/** Returns the ids of the nodes that have one of these names: their own, that of their action, or `x#0` where `x` is not repeated. */
export async function findNamed(
  db: Db,
  plan: string,
  names: readonly string[],
): Promise<{ name: string; id: string; number: number }[]> {
  const { rows } = await sql<{ name: string; id: string; number: number }>`
    select w.name, n.id, n.number from unnest(${names}::text[]) as w(name)
      join propagation_plan_nodes n on n.plan = ${plan}
        and (n.id = w.name collate "C" or n.base = w.name collate "C" or (n.occurrence = 0 and n.id || '#0' = w.name))
    order by n.number`.execute(db);
  return rows;
}

/** Returns a node whose handler executes something, of this target or of any, or null. */
export async function findExecuting(
  db: Db,
  plan: string,
  target?: string,
): Promise<Pick<PlanNodeRow, 'id' | 'handler'> | null> {
  const query = db
    .selectFrom('propagation_plan_nodes')
    .select(['id', 'handler'])
    .where('plan', '=', plan)
    .where('handler', '<>', 'none')
    .$if(target !== undefined, (found) => found.where('target', '=', target ?? '').where('is_idle', '=', false));
  return (await query.orderBy('number').limit(1).executeTakeFirst()) ?? null;
}

/** Notes what the node of an attempt waits for while the attempt goes on. */
export async function noteReason(
  db: Db,
  { id, plan, node }: { id: string; plan: string; node: number },
  reason: string | null,
): Promise<void> {
  await db
    .updateTable('propagation_plan_nodes')
    .set({ reason })
    .where('plan', '=', plan)
    .where('number', '=', node)
    .where('attempt', '=', id)
    .where('status', '=', 'in_progress')
    .execute();
}
