/** Plans on paper: what the staged changes would do, or what a stored plan would still do. Nothing is written. */
import { DEFAULT_ITEMS } from '../../domain/propagation/admission.ts';
import { type Plan, sortedEvents } from '../../domain/propagation/build-plan.ts';
import type { PropagationEvent } from '../../domain/propagation/event-schema.ts';
import { renderEvent } from '../../domain/propagation/event-text.ts';
import { NOOP_REASONS, type PlanEdge, type PlanNode } from '../../domain/propagation/plan-schema.ts';
import { type RetryRules, retriesAfter } from '../../domain/propagation/retry.ts';
import { type Outcomes, scriptedOutcome, simulateBuilt } from '../../domain/propagation/simulate.ts';
import type { SimulateAnswer } from '../../domain/propagation/simulate-schema.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import type { Db } from '../../store/connection/database.ts';
import { listEdges, listNodes } from '../../store/propagation/plan-reads.ts';
import type { PlanNodeRow } from '../../store/propagation/plan-tables.ts';
import { findPlan } from '../../store/propagation/plans.ts';
import { planNotFound } from './command-plan.ts';
import { inPreview, type ProcessDependencies, type Selection } from './process-changes.ts';

/**
 * Simulates the plan that the staged changes would make.
 * Throws as `processChanges`.
 */
export function simulateChanges(
  deps: ProcessDependencies,
  selection: Selection,
  outcomes: Outcomes,
): Promise<SimulateAnswer> {
  return inPreview(deps, selection, (plan, { nodes, shown, typeLimits }) => {
    const known = new Map(nodes.map((node) => [node.id, node]));
    const rulesOf = ({ id }: PlanNode): RetryRules => ({ retry: 0, ...JSON.parse(known.get(id)?.rules ?? '{}') });
    const built = { ...plan, nodes: shown };
    return simulateBuilt(built, eventsOf(built), {
      initialOf: () => undefined,
      outcomeOf: (node, attempt) => scriptedOutcome(outcomes, node, attempt),
      retriesOf: (node, outcome) => retriesAfter(rulesOf(node), outcome),
      typeOf: ({ id }) => known.get(id)?.type ?? null,
      limits: { items: DEFAULT_ITEMS, types: typeLimits },
    });
  });
}

/**
 * Simulates what a stored plan would still do.
 * Throws `plan_not_found`.
 */
export async function simulatePlan(db: Db, id: string, outcomes: Outcomes): Promise<SimulateAnswer> {
  const row = isUuid(id) ? await findPlan(db, id) : null;
  if (row === null) throw planNotFound(id);
  const rows = await listNodes(db, id, { limit: Number.MAX_SAFE_INTEGER });
  const known = new Map(rows.map((node) => [node.id, node]));
  const nodes = rows.map(
    ({ id: name, base, occurrence, origin, weight, target }): PlanNode => ({
      ...{ id: name, base, occurrence, origin, weight, target },
    }),
  );
  const { cycles, suppressed, items_limit, type_limits } = row;
  const plan: Plan = { nodes, edges: await listEdges(db, id), cycles, suppressed };
  return simulateBuilt(plan, eventsOf(plan), {
    initialOf: (node) => initialOf(known.get(node.id)),
    outcomeOf: (node, attempt) => scriptedOutcome(outcomes, node, attempt),
    retriesOf: (node, outcome) => retriesAfter(known.get(node.id)?.rules ?? { retry: 0 }, outcome),
    typeOf: (node) => known.get(node.id)?.type ?? null,
    limits: { items: items_limit, types: type_limits },
  });
}

function initialOf(row: PlanNodeRow | undefined) {
  if (row === undefined || row.status === 'pending') return undefined;
  const reason = NOOP_REASONS.find((known) => known === row.reason);
  return {
    status: row.status,
    ...(row.outcome === null ? {} : { outcome: row.outcome }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** The events of a plan: those of its edges, each once, and those that were suppressed. */
function eventsOf({ nodes, edges, suppressed }: Pick<Plan, 'nodes' | 'edges' | 'suppressed'>): PropagationEvent[] {
  const bases = new Map(nodes.map(({ id, base }) => [id, base]));
  const byText = new Map<string, PropagationEvent>();
  const add = (event: PropagationEvent) => byText.set(renderEvent(event), event);
  for (const edge of edges) {
    const event = eventOf(edge, bases);
    if (event !== null) add(event);
  }
  for (const { type, parent, on, child } of suppressed) add({ type, parent, on, child });
  return sortedEvents([...byText.values()]);
}

function eventOf({ type, from, to, on }: PlanEdge, bases: ReadonlyMap<string, string>): PropagationEvent | null {
  const [parent, child] = [bases.get(from), bases.get(to)];
  if (type === 'sequence' || on === null || parent === undefined || child === undefined) return null;
  return { type, parent, on, child };
}
