/** What the end of an action means for the model: its item is committed, or has failed and stays staged. */
import type { Db } from '../../store/connection/database.ts';
import { findConnectionsOf, findReceivers } from '../../store/propagation/connections.ts';
import { findFrozen } from '../../store/propagation/frozen.ts';
import {
  findImpliedResources,
  hasSettlements,
  holdSettlements,
  markItemsFailed,
  moveToHistory,
  settled,
} from '../../store/propagation/plan-items.ts';
import type { PlanItemRow } from '../../store/propagation/plan-tables.ts';
import { findPlan, updatePlan } from '../../store/propagation/plans.ts';
import {
  findResources,
  lockResource,
  markCommittedRemoved,
  putCommitted,
  type ResourceRow,
  updateStates,
} from '../../store/propagation/resources.ts';
import { deleteItems, findItemsOf, findItemsOfAll, type StagedItemRow } from '../../store/propagation/staged-items.ts';
import type { ModelWrite, StepDependencies } from './dependencies.ts';
import { deleteWhole } from './remove-resource.ts';
import { restage } from './stage-changes.ts';
import { writeJoined } from './write-model.ts';

/** Items in one transaction, and transactions of one call. */
const MOST = 100;
const MOST_BATCHES = 10;

/**
 * Settles items of a plan that are marked for it, each once: its mark goes in the same transaction. What was edited since the plan was made
 * is staged anew. Returns whether more is left.
 */
export async function settleItems(deps: StepDependencies, plan: string): Promise<boolean> {
  for (let batch = 0; batch < MOST_BATCHES; batch++) {
    if (!(await hasSettlements(deps.db, plan))) return false;
    await settleBatch(deps, plan);
  }
  return hasSettlements(deps.db, plan);
}

async function settleBatch(deps: StepDependencies, plan: string): Promise<void> {
  await writeJoined({ ...deps, actor: null }, async (write) => {
    const items = await holdSettlements(write.trx, plan, MOST);
    await fail(
      write,
      items.filter(({ settles }) => settles === 'fail'),
    );
    const commits = items.filter(({ settles }) => settles === 'commit');
    // First what goes: its receivers have been planned without it.
    for (const item of commits.filter(({ action }) => action === 'remove')) await commitRemoval(write, plan, item);
    await commit(
      write,
      plan,
      commits.filter(({ action }) => action !== 'remove'),
    );
    const basesOf = (settles: 'fail' | 'commit') =>
      items.filter((item) => item.settles === settles).map(({ base }) => base);
    await settled(write.trx, plan, basesOf('fail'), null);
    await settled(write.trx, plan, basesOf('commit'), write.now);
  });
}

/** The item stays staged. A resource that is to go stays marked for it. */
async function fail({ trx, now }: ModelWrite, items: readonly PlanItemRow[]): Promise<void> {
  if (items.length === 0) return;
  await markItemsFailed(
    trx,
    items.map(({ uid }) => uid),
  );
  const rows = await standing(trx, items);
  await updateStates(trx, new Map(rows.map(({ name }) => [name, 'error'])), now);
}

/** The resources of items that are there and do not go. */
async function standing(trx: Db, items: readonly PlanItemRow[]): Promise<ResourceRow[]> {
  const rows = await findResources(trx, [...new Set(items.map(({ resource }) => resource))]);
  return rows.filter(({ state }) => state !== 'removed');
}

async function commit(write: ModelWrite, plan: string, items: readonly PlanItemRow[]): Promise<void> {
  if (items.length === 0) return;
  const { trx, now } = write;
  const known = new Map(
    (await findResources(trx, [...new Set(items.map(({ resource }) => resource))])).map((row) => [row.name, row]),
  );
  const frozen = await findFrozen(
    trx,
    items.map(({ inputs }) => inputs),
  );
  // What was planned for the time after a removal counts last.
  const inOrder = [...items].sort((a, b) => Number(a.is_implied) - Number(b.is_implied));
  for (const { resource, inputs, connections, tags, base_path } of inOrder) {
    // A removal in the same plan may have come first.
    if (!known.has(resource)) continue;
    await putCommitted(trx, {
      ...{ resource, tags, base_path, state: 'operational', updated_at: now },
      inputs: JSON.stringify(frozen.get(inputs) ?? {}),
      connections: JSON.stringify(connections),
    });
  }
  await moveToHistory(
    trx,
    plan,
    items.map(({ base }) => base),
    now,
  );
  const names = (await standing(trx, items)).map(({ name }) => name);
  await updateStates(trx, new Map(names.map((name) => [name, 'operational'])), now);
  await stageAnew(write, names, names);
}

/** Stages what resources differ by from what is committed now. Returns their items. */
async function stageAnew(
  write: ModelWrite,
  edited: readonly string[],
  receivers: readonly string[],
): Promise<StagedItemRow[]> {
  await restage(write, await findItemsOfAll(write.trx, receivers), receivers);
  const left = await findItemsOfAll(write.trx, receivers);
  const updated = new Set(
    left.flatMap(({ resource, action, plan }) => (action === 'update' && plan === null ? [resource] : [])),
  );
  const states = edited.filter((name) => updated.has(name)).map((name) => [name, 'updated'] as const);
  await updateStates(write.trx, new Map(states), write.now);
  return left;
}

/** The resource goes. What had a value from it and is not settled by this plan is staged, and the plan says so. */
async function commitRemoval(write: ModelWrite, plan: string, { base, resource }: PlanItemRow): Promise<void> {
  const { trx, now } = write;
  await moveToHistory(trx, plan, [base], now);
  const row = await lockResource(trx, resource);
  if (row === null) {
    await markCommittedRemoved(trx, resource, now);
    return;
  }
  const others = await findItemsOf(trx, resource);
  await deleteItems(
    trx,
    others.map(({ uid }) => uid),
  );
  const direct = (await findConnectionsOf(trx, resource)).map(({ receiver }) => receiver);
  const receivers = (await findReceivers(trx, [resource])).filter((name) => name !== resource);
  await deleteWhole(write, row);
  const left = await stageAnew(
    write,
    direct.filter((name) => name !== resource),
    receivers,
  );
  const implied = await findImpliedResources(trx, plan);
  const followUp = left.filter((item) => item.plan === null && !implied.has(item.resource));
  if (followUp.length === 0) return;
  const known = (await findPlan(trx, plan))?.follow_up ?? [];
  const names = [...new Set([...known, ...followUp.map((item) => item.resource)])].sort();
  await updatePlan(trx, plan, { follow_up: JSON.stringify(names) });
}
