/** Staged changes made into a plan, which holds everything fast that it will do. */
import { randomUUID } from 'node:crypto';
import { musterError } from '../../domain/errors.ts';
import { DEFAULT_ITEMS } from '../../domain/propagation/admission.ts';
import { buildPlan, type Plan } from '../../domain/propagation/build-plan.ts';
import { unsupportedTarget } from '../../domain/propagation/handler-support.ts';
import { actionOf, resourceOf } from '../../domain/propagation/node-id.ts';
import { actionRules, checkActions, refuse } from '../../domain/propagation/plan-actions.ts';
import type { PlanState } from '../../domain/propagation/plan-states.ts';
import { summary } from '../../domain/propagation/report.ts';
import { matches, parseTags } from '../../domain/propagation/tags.ts';
import type { RunnerKind } from '../../domain/runs/runner.ts';
import { insertFrozen } from '../../store/propagation/frozen.ts';
import { findPlanEvents } from '../../store/propagation/plan-closure.ts';
import { insertPlanItems, takeItems } from '../../store/propagation/plan-items.ts';
import { insertEdges, insertNodes } from '../../store/propagation/plan-nodes.ts';
import { insertPlan } from '../../store/propagation/plans.ts';
import { findResources, type ResourceRow } from '../../store/propagation/resources.ts';
import { listItems, type StagedItemRow } from '../../store/propagation/staged-items.ts';
import type { ModelDependencies, ModelWrite } from './dependencies.ts';
import { type FrozenPlan, freezePlan } from './freeze-plan.ts';
import { stageModel } from './stage-changes.ts';
import { refusePlanned } from './stage-edit.ts';
import { writeJoined } from './write-model.ts';

export interface ProcessDependencies extends ModelDependencies {
  /** What executes the work of users on this installation. */
  runner: RunnerKind;
  /** Whether actions may run on the machine of the worker. */
  allowsLocal: boolean;
}

export interface Selection {
  /** Tag expressions, of which one must match; default: all staged items. */
  tags?: readonly string[] | undefined;
  /** Default: `system_log`. */
  name?: string | undefined;
  /** Whether resources whose values do not fit may be planned. */
  force?: boolean | undefined;
}

/** A plan before it is stored. */
export interface PlanPreview extends Plan {
  order: string[];
}

export interface ProcessedPlan extends PlanPreview {
  id: string;
  name: string;
  state: PlanState;
}

/**
 * Makes a plan of staged items, after it has staged the whole model. The items belong to the plan until it succeeds or is abandoned.
 * Throws `nothing_staged`, `item_in_plan`, `tag_syntax`, `validation_failed`, `value_too_large`, `action_not_defined`,
 * `cycle_not_repeatable`, `not_supported`.
 */
export async function processChanges(deps: ProcessDependencies, selection: Selection): Promise<ProcessedPlan> {
  const name = selection.name ?? 'system_log';
  return writeJoined(deps, async (write) => {
    const { items, plan, frozen } = await planned(write, selection, deps);
    const id = randomUUID();
    await store(write, { id, name, items, plan, frozen });
    return { id, name, state: 'built', ...preview(plan, frozen) };
  });
}

/**
 * Returns what a plan would be. Nothing is stored, not even what was staged for it.
 * Throws as `processChanges`.
 */
export function previewChanges(deps: ProcessDependencies, selection: Selection): Promise<PlanPreview> {
  return inPreview(deps, selection, preview);
}

/**
 * Returns what is made of a plan that would be, before all is taken back.
 * Throws as `processChanges`.
 */
export async function inPreview<T>(
  deps: ProcessDependencies,
  selection: Selection,
  work: (plan: Plan, frozen: FrozenPlan) => T,
): Promise<T> {
  let found: { made: T } | undefined;
  const rollback = new Error('a preview is taken back');
  try {
    await writeJoined(deps, async (write) => {
      const { plan, frozen } = await planned(write, selection, deps);
      found = { made: work(plan, frozen) };
      throw rollback;
    });
  } catch (error) {
    if (error !== rollback) throw error;
  }
  if (found === undefined) throw new Error('there is no preview');
  return found.made;
}

const preview = (plan: Plan, { shown }: FrozenPlan): PlanPreview => ({
  ...plan,
  nodes: shown,
  order: shown.map(({ id }) => id),
});

async function planned(
  write: ModelWrite,
  { tags, force = false }: Selection,
  { runner, allowsLocal }: Pick<ProcessDependencies, 'runner' | 'allowsLocal'>,
) {
  const { trx } = write;
  for (const expression of tags ?? []) parseTags(expression);
  await stageModel(write);
  const all = await listItems(trx);
  const items = tags === undefined ? all : all.filter((item) => matches(tags, item.tags));
  if (items.length === 0) {
    throw musterError('nothing_staged', tags === undefined ? 'Nothing is staged' : 'Nothing with these tags is staged');
  }
  refusePlanned(items);
  const events = await findPlanEvents(trx, items);
  const rows = await findRows(write, items, events);
  const plan = buildPlan({
    staged: items.map(({ resource, action }) => `${resource}.${action}`),
    events,
    attributesOf: (node) => {
      const row = rows.get(resourceOf(node));
      const rules = row === undefined ? undefined : actionRules(row, actionOf(node));
      return rules && { repeatable: rules.repeatable, repeat_priority: rules.repeat_priority };
    },
  });
  checkActions(
    plan.nodes.map(({ id, base }) => {
      const resource = rows.get(resourceOf(base));
      if (resource === undefined) throw musterError('unknown_resource', `There is no resource ${resourceOf(base)}`);
      return { id, action: actionOf(base), resource };
    }),
    runner,
  );
  const frozen = await freezePlan(trx, plan, items, { force });
  refuse(frozen.nodes.flatMap((node) => (node.is_idle ? [] : (unsupportedTarget(node, { allowsLocal }) ?? []))));
  return { items, plan, frozen };
}

async function findRows(
  { trx }: ModelWrite,
  items: readonly StagedItemRow[],
  events: readonly { parent: string; child: string }[],
): Promise<Map<string, ResourceRow>> {
  const names = new Set(items.map(({ resource }) => resource));
  for (const { parent, child } of events) names.add(resourceOf(parent)).add(resourceOf(child));
  return new Map((await findResources(trx, [...names])).map((row) => [row.name, row]));
}

interface NewPlan {
  id: string;
  name: string;
  items: readonly StagedItemRow[];
  plan: Plan;
  frozen: FrozenPlan;
}

async function store({ trx, now, actor }: ModelWrite, { id, name, items, plan, frozen }: NewPlan): Promise<void> {
  await insertPlan(trx, {
    ...{ id, name, state: 'built', wish: null, command: 'process', commanded_at: now, items_limit: DEFAULT_ITEMS },
    type_limits: JSON.stringify(frozen.typeLimits),
    counts: JSON.stringify(summary(frozen.nodes.map(({ status }) => status))),
    cycles: JSON.stringify(plan.cycles),
    suppressed: JSON.stringify(plan.suppressed),
    created_at: now,
    actor,
  });
  await insertFrozen(trx, frozen.values);
  await insertNodes(
    trx,
    frozen.nodes.map((node) => ({ plan: id, ...node })),
  );
  await insertEdges(
    trx,
    frozen.edges.map((edge) => ({ plan: id, ...edge })),
  );
  await insertPlanItems(
    trx,
    frozen.items.map((item) => ({ plan: id, ...item })),
  );
  const uids = items.map(({ uid }) => uid);
  if (!(await takeItems(trx, id, uids)))
    throw musterError('item_in_plan', 'A change was taken by another plan meanwhile');
}
