/** What others are told of plans: webhooks and counters, in the transaction of what happened; counts for who asks. */
import { sql } from 'kysely';
import type { Outcome } from '../../domain/propagation/event-schema.ts';
import { OPEN_PLAN_STATES, PLAN_STATES, type PlanState } from '../../domain/propagation/plan-states.ts';
import type { Db } from '../connection/database.ts';
import { literals } from '../connection/literals.ts';
import { countMore } from '../connection/tallies.ts';
import type { LeaseKind } from './plan-tables.ts';

/** Hands a notification to all webhooks that want to hear of the event. */
export async function notifyOfPlan(
  trx: Db,
  event: 'plan.ended' | 'plan.waiting',
  data: Readonly<Record<string, unknown>>,
): Promise<void> {
  await sql`select notify_webhooks(${event}, ${JSON.stringify(data)}::jsonb)`.execute(trx);
}

export interface FailedNode {
  node: string;
  outcome: Outcome;
  message: string | null;
}

/** Returns at most `limit` nodes that have failed and that no second occurrence has mended, in canonical order. */
export async function findFailed(
  db: Db,
  plan: string,
  { recovered, limit }: { recovered: readonly string[]; limit: number },
): Promise<FailedNode[]> {
  const { rows } = await sql<FailedNode>`
    select id as node, outcome, message from propagation_plan_nodes
    where plan = ${plan} and status = 'error' and base <> all(${recovered}::text[])
    order by number limit ${limit}`.execute(db);
  return rows;
}

/** Counts the nodes that have failed since the plan was started. The last statement of its transaction. */
export async function countFailed(trx: Db, plan: string): Promise<void> {
  const { rows } = await sql<{ outcome: Outcome; nodes: number }>`
    select n.outcome, count(*)::int as nodes from propagation_plan_nodes n join propagation_plans p on p.id = n.plan
    where n.plan = ${plan} and n.status = 'error' and n.end_time >= p.started_at group by n.outcome
    order by n.outcome`.execute(trx);
  for (const { outcome, nodes } of rows) await countMore(trx, 'plan_nodes_failed', outcome, nodes);
}

export interface HeldKey {
  kind: LeaseKind;
  key: string;
  plan: string;
  attempt: string;
}

/** Returns at most `limit` leases that keep nodes of a plan from starting, with who has them. */
export async function findKeepers(db: Db, plan: string, limit: number): Promise<HeldKey[]> {
  const { rows } = await sql<HeldKey>`
    select distinct l.kind, l.key, l.plan, l.attempt from propagation_plan_nodes n join propagation_leases l
      on (l.kind = 'target' and l.key = n.target) or (l.kind = 'resource' and l.key = n.resource)
    where n.plan = ${plan} and n.step = 'ready' and not n.is_idle order by l.kind, l.key limit ${limit}`.execute(db);
  return rows;
}

/** Returns the number of plans by state, those without any among them. */
export async function countPlans(db: Db): Promise<Record<PlanState, number>> {
  const { rows } = await sql<{ state: PlanState; plans: number }>`
    select state, count(*)::int as plans from propagation_plans group by state`.execute(db);
  const counts = Object.fromEntries(PLAN_STATES.map((state) => [state, 0])) as Record<PlanState, number>;
  for (const { state, plans } of rows) counts[state] = plans;
  return counts;
}

export interface OpenPlan {
  id: string;
  name: string;
  state: PlanState;
}

/** Returns at most `limit` plans that run or are paused, newest first. */
export async function listOpen(db: Db, limit: number): Promise<OpenPlan[]> {
  const query = db.selectFrom('propagation_plans').select(['id', 'name', 'state']);
  const open = query.where(sql<boolean>`state in ${literals(OPEN_PLAN_STATES)}`);
  return open.orderBy('place', 'desc').limit(limit).execute();
}
