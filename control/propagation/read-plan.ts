/** Plans as they are shown. */
import type { PlanState } from '../../domain/propagation/plan-states.ts';
import type { PlanNodeView, PlanReport, PlanView } from '../../domain/propagation/plan-view-schema.ts';
import { percent } from '../../domain/propagation/report.ts';
import { idRange, isUuid } from '../../domain/text/uuid.ts';
import type { Db } from '../../store/connection/database.ts';
import { countPlans, listOpen, type OpenPlan } from '../../store/propagation/plan-notices.ts';
import { findHolders, listNodes, listPlans, sumTimes } from '../../store/propagation/plan-reads.ts';
import type { PlanNodeRow, PlanRow } from '../../store/propagation/plan-tables.ts';
import { findPlan } from '../../store/propagation/plans.ts';
import { mapPage, onePage, type Page } from '../changes/pages.ts';
import { planNotFound } from './command-plan.ts';
import { nodeOf } from './explain-node.ts';

/** A plan with more nodes has only those in its report that did not end well. */
const LARGEST_REPORT = 10_000;
/** Open plans that the status of the service names. */
const MOST_SHOWN = 10;

/**
 * Returns a plan with the counts that are kept with it.
 * Throws `plan_not_found`.
 */
export async function getPlan(db: Db, id: string): Promise<PlanView> {
  return viewOfPlan(await planOf(db, id));
}

/** Returns how many plans run and are paused, and the newest of them. */
export async function readOpenPlans(db: Db): Promise<{ running: number; paused: number; open: OpenPlan[] }> {
  const { running, paused } = await countPlans(db);
  return { running, paused, open: await listOpen(db, MOST_SHOWN) };
}

/** Returns a plan. Throws `plan_not_found`. */
export async function planOf(db: Db, id: string): Promise<PlanRow> {
  const row = isUuid(id) ? await findPlan(db, id) : null;
  if (row === null) throw planNotFound(id);
  return row;
}

export interface PlanQuery {
  state?: PlanState | undefined;
  /** How the id begins. */
  prefix?: string | undefined;
}

/** Returns a page of plans, newest first, after the one of an id. Throws `plan_not_found`. */
export async function pageOfPlans(
  db: Db,
  { state, prefix = '' }: PlanQuery,
  after: string,
  limit: number,
): Promise<Page<PlanView>> {
  const before = after === '' ? null : (await planOf(db, after)).place;
  const filter = { state, ids: prefix === '' ? undefined : idRange(prefix) };
  return mapPage(await onePage(limit, (rows) => listPlans(db, filter, before, rows)), viewOfPlan);
}

/** Returns a page of the nodes of a plan in canonical order, behind the node of an id. Throws `plan_not_found`, `node_not_found`. */
export async function pageOfNodes(db: Db, id: string, after: string, limit: number): Promise<Page<PlanNodeView>> {
  const plan = await planOf(db, id);
  const place = after === '' ? -1 : (await nodeOf(db, plan, after)).number;
  const page = await onePage(limit, (rows) => listNodes(db, id, { after: place, limit: rows }));
  return { ...page, records: await viewsOf(db, id, page.records) };
}

/** Returns a node by its id, or by `x#0` where `x` is not repeated. Throws `plan_not_found`, `node_not_found`. */
export async function getNode(db: Db, id: string, name: string): Promise<PlanNodeView> {
  const row = await nodeOf(db, await planOf(db, id), name);
  const [view] = await viewsOf(db, id, [row]);
  return view as PlanNodeView;
}

/** Returns what has become of a plan, node by node. Throws `plan_not_found`. */
export async function getReport(db: Db, id: string): Promise<PlanReport> {
  const plan = await planOf(db, id);
  const total = Object.values(plan.counts).reduce((sum, count) => sum + count, 0);
  const isLarge = total > LARGEST_REPORT;
  const nodes = await listNodes(db, id, { limit: LARGEST_REPORT, unfinished: isLarge });
  const { first, last, spent } = await sumTimes(db, id);
  const { summary, percent: over, cycles, recovered, unsettled, follow_up } = viewOfPlan(plan);
  return {
    nodes: (await viewsOf(db, id, nodes)).map(lineOf),
    is_cut: isLarge,
    total_time: first === null || last === null ? 0 : (last.getTime() - first.getTime()) / 1_000,
    total_delta: spent,
    ...{ summary, percent: over, cycles, recovered, unsettled, follow_up },
  };
}

function lineOf(view: PlanNodeView): PlanReport['nodes'][number] {
  const { id: node, status, outcome, reason, message, code, attempts, blocked_by, triggered_by } = view;
  const { start_time, end_time } = view;
  return { node, status, outcome, reason, message, code, attempts, blocked_by, triggered_by, start_time, end_time };
}

export function viewOfPlan(row: PlanRow): PlanView {
  const { id, name, state, wish, run_number, counts, suppressed, recovered, unsettled, follow_up } = row;
  return {
    ...{ id, name, state, wish, run_number, summary: counts, percent: percent(counts) },
    cycles: row.cycles.map(({ members, head, repeated, closed_by }) => ({ members, head, repeated, closed_by })),
    ...{ suppressed, recovered, unsettled, follow_up },
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
  };
}

/** Nodes that wait say for whom. */
async function viewsOf(db: Db, plan: string, rows: readonly PlanNodeRow[]): Promise<PlanNodeView[]> {
  const waiting = rows.filter(({ step, is_idle }) => step === 'ready' && !is_idle).map(({ number }) => number);
  const holders = waiting.length === 0 ? [] : await findHolders(db, plan, waiting);
  const reasons = new Map<number, string>();
  for (const { number, kind, key, plan: holder } of holders) {
    if (!reasons.has(number)) reasons.set(number, `waits for ${kind} ${key}, which plan ${holder} has`);
  }
  const waits = new Set(waiting);
  return rows.map((row) => {
    const reason =
      reasons.get(row.number) ?? row.reason ?? (waits.has(row.number) ? 'waits for room in the plan' : null);
    return viewOfNode(row, reason);
  });
}

function viewOfNode(row: PlanNodeRow, reason: string | null): PlanNodeView {
  const { id, base, occurrence, origin, handler, target, weight, status, outcome, message, code, attempts } = row;
  return {
    ...{ id, base, occurrence, origin, handler, target, weight, status, outcome, reason, message, code, attempts },
    ...{ blocked_by: row.blocked_by, triggered_by: row.triggered_by },
    start_time: row.start_time?.toISOString() ?? null,
    end_time: row.end_time?.toISOString() ?? null,
  };
}
