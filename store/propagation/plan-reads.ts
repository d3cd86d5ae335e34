/** Plans as they are shown: pages of what they have, and the way back from a node. */
import { sql } from 'kysely';
import type { PlanEdge } from '../../domain/propagation/plan-schema.ts';
import type { PlanState } from '../../domain/propagation/plan-states.ts';
import type { Db } from '../connection/database.ts';
import type { AttemptRow, PlanNodeRow, PlanRow } from './plan-tables.ts';

export interface PlanFilter {
  state?: PlanState | undefined;
  /** Least and greatest id. */
  ids?: readonly [string, string] | undefined;
}

/** Returns at most `limit` plans that were made before the one in this place, newest first. */
export async function listPlans(
  db: Db,
  { state, ids }: PlanFilter,
  before: number | null,
  limit: number,
): Promise<PlanRow[]> {
  return db
    .selectFrom('propagation_plans')
    .selectAll()
    .$if(state !== undefined, (query) => query.where('state', '=', state as PlanState))
    .$if(ids !== undefined, (query) => query.where('id', '>=', ids?.[0] ?? '').where('id', '<=', ids?.[1] ?? ''))
    .$if(before !== null, (query) => query.where('place', '<', before ?? 0))
    .orderBy('place', 'desc')
    .limit(limit)
    .execute();
}

/** Returns at most `limit` nodes behind a place, in canonical order. `unfinished`: those alone that did not end in `success` or `noop`. */
export async function listNodes(
  db: Db,
  plan: string,
  { after = -1, limit, unfinished = false }: { after?: number; limit: number; unfinished?: boolean },
): Promise<PlanNodeRow[]> {
  return db
    .selectFrom('propagation_plan_nodes')
    .selectAll()
    .where('plan', '=', plan)
    .where('number', '>', after)
    .$if(unfinished, (query) => query.where('status', 'not in', ['success', 'noop']))
    .orderBy('number')
    .limit(limit)
    .execute();
}

/** Returns the attempts of a node, the first one first. */
export async function listAttempts(db: Db, plan: string, node: number): Promise<AttemptRow[]> {
  const query = db.selectFrom('propagation_attempts').selectAll().where('plan', '=', plan).where('node', '=', node);
  return query.orderBy('number').execute();
}

export interface Times {
  first: Date | null;
  last: Date | null;
  /** Sum of what each node took, s. */
  spent: number;
}

/** Returns the times over all nodes of a plan that have begun and ended. */
export async function sumTimes(db: Db, plan: string): Promise<Times> {
  const { rows } = await sql<Times>`
    select min(start_time) as first, max(end_time) as last,
      coalesce(sum(extract(epoch from end_time - start_time)), 0)::float8 as spent
    from propagation_plan_nodes where plan = ${plan} and start_time is not null and end_time is not null`.execute(db);
  return rows[0] ?? { first: null, last: null, spent: 0 };
}

/**
 * Returns the actions from which a node can be reached by reactions, the last step being any edge: at most `limit`, the node's own among
 * them.
 */
export async function findWayBack(db: Db, plan: string, node: number, limit: number): Promise<string[]> {
  const { rows } = await sql<{ base: string }>`
    with recursive back(base) as (
      select n.base from propagation_plan_nodes n where n.plan = ${plan} and n.number = ${node}
      union
      select p.base from back b, lateral (
        select s.base from propagation_plan_nodes n
          join propagation_plan_edges e on e.plan = n.plan and e.target = n.number
          join propagation_plan_nodes s on s.plan = e.plan and s.number = e.source
        where n.plan = ${plan} and n.base = b.base and (e.type = 'react_on' or n.number = ${node}) offset 0) as p
    )
    select base from back limit ${limit}`.execute(db);
  return rows.map(({ base }) => base);
}

/** Returns all occurrences of these actions, in canonical order. */
export async function findNodesOf(db: Db, plan: string, bases: readonly string[]): Promise<PlanNodeRow[]> {
  const query = db.selectFrom('propagation_plan_nodes').selectAll().where('plan', '=', plan);
  return query.where('base', '=', sql<string>`any(${bases}::text[])`).orderBy('number').execute();
}

/** Returns the edges into nodes, by the ids of their ends. */
export async function findEdgesInto(db: Db, plan: string, targets: readonly number[]): Promise<PlanEdge[]> {
  const { rows } = await sql<PlanEdge>`
    select s.id as "from", t.id as "to", e.type, e.on_outcome as "on"
    from propagation_plan_edges e
      join propagation_plan_nodes s on s.plan = e.plan and s.number = e.source
      join propagation_plan_nodes t on t.plan = e.plan and t.number = e.target
    where e.plan = ${plan} and e.target = any(${targets}::int[])
    order by e.target, e.grp, e.source`.execute(db);
  return rows;
}

/** Returns the edges of a plan, all or those between nodes of these numbers, by the ids of their ends. */
export async function listEdges(db: Db, plan: string, between?: readonly number[]): Promise<PlanEdge[]> {
  const isBetween =
    between === undefined ? sql`true` : sql`e.source = any(${between}::int[]) and e.target = any(${between}::int[])`;
  const { rows } = await sql<PlanEdge>`
    select s.id as "from", t.id as "to", e.type, e.on_outcome as "on"
    from propagation_plan_edges e
      join propagation_plan_nodes s on s.plan = e.plan and s.number = e.source
      join propagation_plan_nodes t on t.plan = e.plan and t.number = e.target
    where e.plan = ${plan} and ${isBetween} order by s.id, t.id, e.type, e.on_outcome`.execute(db);
  return rows;
}

/** Returns who holds what the waiting nodes of a plan want: target or resource, and the plan of its attempt. */
export async function findHolders(
  db: Db,
  plan: string,
  numbers: readonly number[],
): Promise<{ number: number; kind: 'target' | 'resource'; key: string; plan: string }[]> {
  const { rows } = await sql<{ number: number; kind: 'target' | 'resource'; key: string; plan: string }>`
    select n.number, l.kind, l.key, l.plan from propagation_plan_nodes n
      join propagation_leases l on (l.kind = 'target' and l.key = n.target) or (l.kind = 'resource' and l.key = n.resource)
    where n.plan = ${plan} and n.number = any(${numbers}::int[]) and n.step = 'ready' and not n.is_idle
    order by n.number, l.kind desc`.execute(db);
  return rows;
}
