import { musterError } from '../../domain/errors.ts';
import { explain } from '../../domain/propagation/explain.ts';
import { indexPlan } from '../../domain/propagation/plan-index.ts';
import { type Explanation, NOOP_REASONS, type PlanNode } from '../../domain/propagation/plan-schema.ts';
import type { NodeState } from '../../domain/propagation/run-plan.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import type { Db } from '../../store/connection/database.ts';
import { findNamed, findNodes } from '../../store/propagation/plan-nodes.ts';
import { findEdgesInto, findNodesOf, findWayBack } from '../../store/propagation/plan-reads.ts';
import type { PlanNodeRow, PlanRow } from '../../store/propagation/plan-tables.ts';
import { findPlan } from '../../store/propagation/plans.ts';
import { planNotFound } from './command-plan.ts';

/** Actions that the way back may have. */
const MOST_ACTIONS = 10_000;

/**
 * Explains a node of a stored plan: why it stands in it, what the events into it made of it. Only what leads to the node is read; where that
 * is too much, the way is null.
 * Throws `plan_not_found`, `node_not_found`.
 */
export async function explainNode(db: Db, id: string, name: string): Promise<Explanation> {
  const plan = isUuid(id) ? await findPlan(db, id) : null;
  if (plan === null) throw planNotFound(id);
  const node = await nodeOf(db, plan, name);
  const bases = await wayBack(db, plan, node);
  const isCut = bases.length > MOST_ACTIONS;
  // What leads into the node itself is told in any case.
  const own = await findEdgesInto(db, id, [node.number]);
  const rows = isCut ? await emittersOf(db, id, node, own) : await findNodesOf(db, id, bases);
  const edges = isCut
    ? own
    : await findEdgesInto(
        db,
        id,
        rows.map(({ number }) => number),
      );
  const known = new Set(rows.map((row) => row.id));
  const index = indexPlan({
    nodes: rows.map(nodeOfRow),
    edges: edges.filter(({ from, to }) => known.has(from) && known.has(to)),
  });
  const explanation = explain(node.id, index, rows.map(stateOf), plan.suppressed);
  return isCut ? { ...explanation, chain: null } : explanation;
}

/** Reactions that were dropped have no edge in the plan, though they too brought actions in. */
async function wayBack(db: Db, { id, suppressed }: PlanRow, node: PlanNodeRow): Promise<string[]> {
  const bases = new Set(await findWayBack(db, id, node.number, MOST_ACTIONS + 1));
  const dropped = suppressed.filter(({ type, reason }) => type === 'react_on' && reason === 'remove-cycle');
  while (bases.size <= MOST_ACTIONS) {
    const parents = dropped.filter(({ child, parent }) => bases.has(child) && !bases.has(parent));
    const found = await findNodesOf(db, id, [...new Set(parents.map(({ parent }) => parent))]);
    if (found.length === 0) break;
    for (const { number } of found) {
      for (const base of await findWayBack(db, id, number, MOST_ACTIONS + 1)) bases.add(base);
    }
  }
  return [...bases];
}

async function emittersOf(
  db: Db,
  plan: string,
  node: PlanNodeRow,
  edges: readonly { from: string }[],
): Promise<PlanNodeRow[]> {
  const bases = [node.base, ...edges.map(({ from }) => from.replace(/#[01]$/, ''))];
  return findNodesOf(db, plan, [...new Set(bases)]);
}

/**
 * Returns the node of a name: its own id, or `x#0` where `x` is not repeated.
 * Throws `node_not_found`.
 */
export async function nodeOf(db: Db, { id: plan }: PlanRow, name: string): Promise<PlanNodeRow> {
  const named = await findNamed(db, plan, [name]);
  const found = named.find(({ id }) => id === name || `${id}#0` === name);
  if (found === undefined) {
    const hint = named.length > 0 ? `: write ${name}#0 or ${name}#1` : '';
    throw musterError('node_not_found', `The plan has no node ${name.slice(0, 300)}${hint}`);
  }
  const [row] = await findNodes(db, plan, [found.number]);
  if (row === undefined) throw musterError('node_not_found', `The plan has no node ${name.slice(0, 300)}`);
  return row;
}

function nodeOfRow({ id, base, occurrence, origin, weight, target }: PlanNodeRow): PlanNode {
  return { id, base, occurrence, origin, weight, target };
}

function stateOf({ status, outcome, reason, attempts }: PlanNodeRow): NodeState {
  return { status, outcome, reason: NOOP_REASONS.find((known) => known === reason), attempts };
}
