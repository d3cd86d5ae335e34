/** What readers see of plans beside their rows: edges in pages, the graph, attempts, how far the streams are. */
import { sql } from 'kysely';
import type { Outcome } from '../../domain/propagation/event-schema.ts';
import type { NodeStatus, PlanEdge } from '../../domain/propagation/plan-schema.ts';
import type { PlanState } from '../../domain/propagation/plan-states.ts';
import type { Db } from '../connection/database.ts';
import type { AttemptRow } from './plan-tables.ts';

/** An edge by its ends; the place of an edge in the order of edges. */
export type EdgePlace = readonly [from: string, to: string, type: string, on: string];

/** Returns at most `limit` edges behind a place, by (from, to, type, on). */
export async function listEdgePage(db: Db, plan: string, after: EdgePlace | null, limit: number): Promise<PlanEdge[]> {
  const [from, to, type, on] = after ?? ['', '', '', ''];
  const { rows } = await sql<PlanEdge>`
    select s.id as "from", t.id as "to", e.type, e.on_outcome as "on"
    from propagation_plan_edges e
      join propagation_plan_nodes s on s.plan = e.plan and s.number = e.source
      join propagation_plan_nodes t on t.plan = e.plan and t.number = e.target
    where e.plan = ${plan}
      and (s.id, t.id, e.type collate "C", coalesce(e.on_outcome, '') collate "C") > (${from}, ${to}, ${type}, ${on})
    order by s.id, t.id, e.type collate "C", coalesce(e.on_outcome, '') collate "C" limit ${limit}`.execute(db);
  return rows;
}

/** Returns the nodes of a plan as its graph shows them, all or those of these numbers, in canonical order. */
export async function listNodeStates(
  db: Db,
  plan: string,
  numbers?: readonly number[],
): Promise<{ id: string; base: string; status: NodeStatus }[]> {
  return db
    .selectFrom('propagation_plan_nodes')
    .select(['id', 'base', 'status'])
    .where('plan', '=', plan)
    .$if(numbers !== undefined, (query) => query.where('number', '=', sql<number>`any(${numbers ?? []}::int[])`))
    .orderBy('number')
    .execute();
}

/** Returns the numbers of nodes that an edge joins to any of these, in either direction, at most `limit`. */
export async function findBeside(db: Db, plan: string, numbers: readonly number[], limit: number): Promise<number[]> {
  const { rows } = await sql<{ number: number }>`
    select distinct number from (
      select e.source as number from propagation_plan_edges e where e.plan = ${plan} and e.target = any(${numbers}::int[])
      union all
      select e.target from propagation_plan_edges e where e.plan = ${plan} and e.source = any(${numbers}::int[])
    ) as beside limit ${limit}`.execute(db);
  return rows.map(({ number }) => number);
}

/** An attempt with what is known of it elsewhere. */
export interface ShownAttempt extends AttemptRow {
  node_id: string;
  run: string | null;
  has_leases: boolean;
}

/** Returns the attempts of a node, the first one first, or one attempt by its id. `kind`: word of attempts as owners of runs. */
export async function findShownAttempts(
  db: Db,
  kind: string,
  which: { plan: string; node: number } | { id: string },
): Promise<ShownAttempt[]> {
  const chosen =
    'id' in which ? sql`a.id = ${which.id}::uuid` : sql`a.plan = ${which.plan}::uuid and a.node = ${which.node}`;
  const { rows } = await sql<ShownAttempt>`
    select a.*, n.id as node_id,
      (select r.id from runs r where r.owner_kind = ${kind} and r.owner_id = a.id::text limit 1) as run,
      exists (select from propagation_leases l where l.attempt = a.id) as has_leases
    from propagation_attempts a join propagation_plan_nodes n on n.plan = a.plan and n.number = a.node
    where ${chosen} order by a.number`.execute(db);
  return rows;
}

/** How far the stream of a plan can be read; null when the plan is gone. */
export async function readPlanStream(db: Db, id: string): Promise<{ state: PlanState; lastEvent: number } | null> {
  const { rows } = await sql<{ state: PlanState; lastEvent: number }>`
    select p.state, coalesce(t.next_event, 1) - 1 as "lastEvent"
    from propagation_plans p left join streams t on t.id = p.id::text where p.id = ${id}::uuid`.execute(db);
  return rows[0] ?? null;
}

export interface AttemptStream {
  state: AttemptRow['state'];
  outcome: Outcome | null;
  code: string | null;
  message: string | null;
  lastEvent: number;
  lastChunk: number;
}

/** How far the stream of an attempt's run can be read; null when the attempt is gone. */
export async function readAttemptStream(db: Db, id: string, stream: string): Promise<AttemptStream | null> {
  const { rows } = await sql<AttemptStream>`
    select a.state, a.outcome, a.code, a.message, coalesce(t.next_event, 1) - 1 as "lastEvent",
      coalesce(t.next_chunk, 1) - 1 as "lastChunk"
    from propagation_attempts a left join streams t on t.id = ${stream} where a.id = ${id}::uuid`.execute(db);
  return rows[0] ?? null;
}
