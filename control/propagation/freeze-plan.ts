/** What a plan holds fast when it is made: inputs, targets, rules, and what its items commit. Later edits do not reach it. */
import { createHash, randomUUID } from 'node:crypto';
import type { Mistake } from '../../domain/errors.ts';
import { checkVariables } from '../../domain/propagation/ansible-action.ts';
import type { Plan } from '../../domain/propagation/build-plan.ts';
import { canonicalText, checkValues } from '../../domain/propagation/freeze.ts';
import { actionOf, resourceOf } from '../../domain/propagation/node-id.ts';
import { inputMistakes } from '../../domain/propagation/own-inputs.ts';
import { actionRules, executedAction, isIdle, refuse } from '../../domain/propagation/plan-actions.ts';
import { indexPlan } from '../../domain/propagation/plan-index.ts';
import type { PlanNode } from '../../domain/propagation/plan-schema.ts';
import { type CurrentResource, itemDiff } from '../../domain/propagation/stage.ts';
import { isPlain, type Places, targetOf } from '../../domain/propagation/target.ts';
import type { Db } from '../../store/connection/database.ts';
import type { NewPlanEdge, NewPlanItem, NewPlanNode } from '../../store/propagation/plan-tables.ts';
import { type CommittedRow, findCommitted, findPlaces, type ResourceRow } from '../../store/propagation/resources.ts';
import type { StagedItemRow } from '../../store/propagation/staged-items.ts';
import { basePathOf, committedOf, readCurrent } from './current-resources.ts';

export interface FrozenPlan {
  nodes: NewPlanNode[];
  edges: NewPlanEdge[];
  items: NewPlanItem[];
  values: Map<string, Record<string, unknown>>;
  typeLimits: Record<string, number>;
  /** The nodes with their targets. */
  shown: PlanNode[];
}

interface Sight {
  rows: ReadonlyMap<string, ResourceRow>;
  current: ReadonlyMap<string, CurrentResource>;
  committed: ReadonlyMap<string, CommittedRow>;
}

/**
 * Freezes a plan. Reactions are frozen as if what the plan removes were gone already; `run` and `update` among them that differ by that from
 * what is committed have an item of their own.
 * Throws `validation_failed` with the mistakes of all inputs, `unsafe_value`, `value_too_large`.
 */
export async function freezePlan(
  db: Db,
  plan: Plan,
  staged: readonly StagedItemRow[],
  { force }: { force: boolean },
): Promise<FrozenPlan> {
  const names = [...new Set(plan.nodes.map(({ base }) => resourceOf(base)))];
  const removed = new Set(staged.filter(({ action }) => action === 'remove').map(({ resource }) => resource));
  const { rows, current } = await readCurrent(db, names);
  const sight: Sight = { rows, current, committed: await findCommitted(db, names) };
  const later = removed.size === 0 ? sight : { ...sight, current: (await readCurrent(db, names, removed)).current };
  const places = await readPlaces(db, [...current.values(), ...later.current.values()]);
  const items = new Map(staged.map((item) => [`${item.resource}.${item.action}`, item]));
  const sightOf = (base: string): Sight => (items.has(base) ? sight : later);

  const bases = plan.nodes.filter(({ occurrence }) => occurrence === 0);
  refuse(bases.flatMap(({ base }) => mistakesOf(base, sightOf(base), places, force)));
  const values = new Map<string, Record<string, unknown>>();
  const keep = (inputs: Readonly<Record<string, unknown>>): string => {
    checkValues(inputs);
    const hash = createHash('sha256').update(canonicalText(inputs)).digest('hex');
    values.set(hash, { ...inputs });
    return hash;
  };
  const planItems = bases.flatMap(({ base }) => {
    const item = items.get(base);
    return item === undefined ? impliedItem(base, later, keep) : [stagedItem(base, item, sight, keep)];
  });
  const { groups } = indexPlan(plan);
  const byBase = new Map(planItems.map((item) => [item.base, item]));
  const typeLimits: Record<string, number> = {};
  const shown = plan.nodes.map((node) => {
    const inputs = resourceIn(sightOf(node.base), node.base).resolved;
    return { ...node, target: targetOf(inputs, places) ?? null };
  });
  const nodes = shown.map((node, number): NewPlanNode => {
    const base = sightOf(node.base);
    const row = rowIn(base, node.base);
    const action = actionOf(node.base);
    const executes = executedAction(row, action) ?? null;
    const rules = actionRules(row, action);
    const item = byBase.get(node.base);
    const type = row.type_limit === null ? null : basePathOf(row);
    if (type !== null) typeLimits[type] = row.type_limit ?? 0;
    const isFirst = node.occurrence === 0;
    const open = (groups[number] ?? []).reduce((sum, { from }) => sum + from.length, 0);
    return {
      ...{ number, id: node.id, base: node.base, occurrence: node.occurrence, origin: node.origin },
      ...{ resource: row.name, action, executes, is_idle: isIdle(row, executes), handler: row.handler },
      ...{ definition: row.hash, base_path: basePathOf(row), target: node.target, type, weight: node.weight },
      rules: JSON.stringify({
        file: rules?.file ?? null,
        timelimit: rules?.timelimit ?? 0,
        timeout: rules?.timeout ?? 0,
        retry: rules?.retry ?? 0,
        retry_on: rules?.retry_on ?? 'failure',
        backoff: rules?.backoff ?? 0,
        outcomes: rules?.outcomes ?? {},
      }),
      inputs: keep(resourceIn(base, node.base).resolved),
      has_item: item !== undefined,
      differs: isFirst && item !== undefined && item.diff !== '[]',
      creates: isFirst && action === 'run' && items.has(node.base) && !isCommitted(base, row.name),
      ...{ status: 'pending', outcome: null, reason: null, message: null, code: null },
      ...{ step: open === 0 ? 'due' : null, open, attempt: null },
    };
  });
  const edges = groups.flatMap((into, target) =>
    into.flatMap(({ type, on, from }, grp) => from.map((source) => ({ target, grp, source, type, on_outcome: on }))),
  );
  return { nodes, edges, items: planItems, values, typeLimits, shown };
}

const isCommitted = ({ committed }: Sight, name: string) => committed.get(name)?.state === 'operational';

function rowIn({ rows }: Sight, base: string): ResourceRow {
  const row = rows.get(resourceOf(base));
  if (row === undefined) throw new Error(`node ${base} has no resource`);
  return row;
}

function resourceIn({ current }: Sight, base: string): CurrentResource {
  const resource = current.get(resourceOf(base));
  if (resource === undefined) throw new Error(`node ${base} has no resource`);
  return resource;
}

/** What keeps a node from being planned. What is removed may have any values. */
function mistakesOf(base: string, sight: Sight, places: Places, force: boolean): Mistake[] {
  const row = rowIn(sight, base);
  const { resolved } = resourceIn(sight, base);
  const isRemoved = actionOf(base) === 'remove';
  const values = Object.entries(force || isRemoved ? {} : inputMistakes(row.meta_inputs, resolved)).map(
    ([input, texts]) => mistake(base, input, `Input ${input} of ${row.name} ${texts[0]}`),
  );
  if (isIdle(row, executedAction(row, actionOf(base)) ?? null)) return values;
  checkVariables(row.handler, resolved);
  const target = targetOf(resolved, places);
  if (target === null) values.push(mistake(base, 'location_id', `Resource ${row.name} has no location to run at`));
  if (target === undefined) {
    values.push(mistake(base, 'location_id', `The location of ${row.name} leads to no resource with an address`));
  }
  return values;
}

const mistake = (node: string, field: string, message: string): Mistake => ({
  code: 'validation_failed',
  message,
  field,
  names: [node],
});

type Keep = (inputs: Readonly<Record<string, unknown>>) => string;

function stagedItem(base: string, item: StagedItemRow, sight: Sight, keep: Keep): NewPlanItem {
  const resource = resourceIn(sight, base);
  const isRemoved = item.action === 'remove';
  return {
    ...{ base, uid: item.uid, is_implied: false, resource: item.resource, action: item.action },
    ...{ diff: JSON.stringify(item.diff), connections_diff: JSON.stringify(item.connections_diff) },
    ...{ base_path: item.base_path, tags: item.tags, settles: null },
    inputs: keep(isRemoved ? {} : resource.resolved),
    connections: JSON.stringify(isRemoved ? [] : resource.connections),
  };
}

/** The item of a reaction by which its resource takes in that others are gone. */
function impliedItem(base: string, later: Sight, keep: Keep): NewPlanItem[] {
  const action = actionOf(base);
  if (action !== 'run' && action !== 'update') return [];
  const row = rowIn(later, base);
  const resource = resourceIn(later, base);
  const { diff, connections_diff } = itemDiff(resource, committedOf(later.committed.get(row.name)));
  if (diff.length === 0 && connections_diff.length === 0) return [];
  return [
    {
      ...{ base, uid: randomUUID(), is_implied: true, resource: row.name, action },
      ...{ diff: JSON.stringify(diff), connections_diff: JSON.stringify(connections_diff) },
      ...{ base_path: basePathOf(row), tags: row.tags, settles: null },
      inputs: keep(resource.resolved),
      connections: JSON.stringify(resource.connections),
    },
  ];
}

/** Reads the nodes and transports that resources name, with their values along the connections. */
async function readPlaces(db: Db, resources: readonly CurrentResource[]): Promise<Places> {
  const idsOf = (input: 'location_id' | 'transports_id'): string[] => [
    ...new Set(
      resources.flatMap(({ resolved }) => {
        const id = resolved[input];
        return typeof id === 'string' && id !== '' && !isPlain(id) ? [id] : [];
      }),
    ),
  ];
  const nodes = await findPlaces(db, 'location_id', idsOf('location_id'), 'ip');
  const transports = await findPlaces(db, 'transports_id', idsOf('transports_id'), 'port');
  const { current } = await readCurrent(db, [...new Set([...nodes, ...transports].map(({ name }) => name))]);
  const byId = (found: readonly { id: string; name: string }[]) =>
    new Map(found.map(({ id, name }) => [id, current.get(name)?.resolved ?? {}]));
  return { nodes: byId(nodes), transports: byId(transports) };
}
