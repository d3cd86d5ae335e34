/** What differs from what was committed, written down. */
import { type MusterError, musterError } from '../../domain/errors.ts';
import { actionOfEdit, CANONICAL_ACTIONS } from '../../domain/propagation/item-state.ts';
import { stageItems } from '../../domain/propagation/stage.ts';
import { parseTags } from '../../domain/propagation/tags.ts';
import { findReceivers } from '../../store/propagation/connections.ts';
import {
  findCommitted,
  findResources,
  listNamesByTags,
  type ResourceRow,
  updateStates,
} from '../../store/propagation/resources.ts';
import {
  deleteItems,
  insertItems,
  listItems,
  type StagedItemRow,
  updateDifferences,
} from '../../store/propagation/staged-items.ts';
import { committedOf, readCurrent } from './current-resources.ts';
import type { ModelDependencies, ModelWrite } from './dependencies.ts';
import { removeRow } from './remove-resource.ts';
import { itemOf } from './stage-edit.ts';
import { writeJoined } from './write-model.ts';

/** Resources for which a user asks for an action by name. */
export interface AskedFor {
  names?: readonly string[] | undefined;
  /** Tag expressions, of which one must match. */
  tags?: readonly string[] | undefined;
  /** Default: `update`, or `run` for a resource that was never committed. */
  action?: string | undefined;
}

/**
 * Stages the actions that are asked for, then works out the differences of the whole model. Returns all staged items, oldest first.
 * Throws `tag_syntax`, `unknown_resource`, `action_not_defined`, `validation_failed`, `item_in_plan`.
 */
export async function stageChanges(deps: ModelDependencies, asked: AskedFor): Promise<StagedItemRow[]> {
  const expressions = asked.tags?.map(parseTags);
  return writeJoined(deps, async (write) => {
    if (asked.names !== undefined || expressions !== undefined || asked.action !== undefined) {
      const byTags = expressions === undefined ? [] : await listNamesByTags(write.trx, expressions);
      const chosen = await chosenResources(write, asked, new Set([...(asked.names ?? []), ...byTags]));
      await stageAskedFor(write, chosen, asked.action);
    }
    await stageModel(write);
    return listItems(write.trx);
  });
}

/** A resource that is marked removed takes no other action: by name that is refused, by tags it is passed over. */
async function chosenResources(
  { trx }: ModelWrite,
  asked: AskedFor,
  names: ReadonlySet<string>,
): Promise<ResourceRow[]> {
  if (asked.names === undefined && asked.tags === undefined) {
    throw musterError(
      'validation_failed',
      'An action is staged for resources: name them, or give a tag expression',
      'action',
    );
  }
  const rows = await findResources(trx, [...names]);
  for (const name of asked.names ?? []) {
    const row = rows.find((one) => one.name === name);
    if (row === undefined) throw musterError('unknown_resource', `There is no resource ${name.slice(0, 300)}`, 'names');
    if (row.state !== 'removed' || asked.action === 'remove') continue;
    throw musterError(
      'validation_failed',
      `Resource ${name} is marked for removal: discard that change first`,
      'names',
    );
  }
  return rows.filter(({ state }) => state !== 'removed' || asked.action === 'remove');
}

async function stageAskedFor(write: ModelWrite, rows: readonly ResourceRow[], action?: string): Promise<void> {
  if (action === 'remove') {
    for (const row of rows) await removeRow(write, row, false);
    return;
  }
  const committed = await findCommitted(
    write.trx,
    rows.map(({ name }) => name),
  );
  const items = rows.map((row) => {
    const wanted = action ?? actionOfEdit(committed.get(row.name)?.state ?? null);
    if (!defines(row, wanted)) throw actionNotDefined(row.name, wanted);
    return itemOf(row, wanted, true);
  });
  await insertItems(write.trx, items, write.now, write.actor);
}

function defines({ actions }: ResourceRow, action: string): boolean {
  return Object.hasOwn(actions, action) || CANONICAL_ACTIONS.some((canonical) => canonical === action);
}

function actionNotDefined(resource: string, action: string): MusterError {
  return musterError(
    'action_not_defined',
    `Resource ${resource} has no action ${action.slice(0, 100)}: its definition names its actions`,
    'action',
  );
}

/**
 * Works out the differences of all staged items, drops those that have come to nothing, and adds the receivers that differ. Reads staged
 * resources, their transitive receivers, and what hands values on to them; nothing else. The caller holds the model alone.
 */
export async function stageModel(write: ModelWrite): Promise<void> {
  const items = await listItems(write.trx);
  const receivers = await findReceivers(
    write.trx,
    items.map(({ resource }) => resource),
  );
  await restage(write, items, receivers);
}

/** Works out the differences of some staged items, drops those that have come to nothing, and adds those of the receivers that differ. */
export async function restage(
  { trx, now, actor }: ModelWrite,
  items: readonly StagedItemRow[],
  receivers: readonly string[],
): Promise<void> {
  const names = [...new Set([...items.map(({ resource }) => resource), ...receivers])];
  const { rows, current } = await readCurrent(trx, names);
  const committed = await findCommitted(trx, names);
  const staging = stageItems({
    items,
    receivers,
    current: (name) => current.get(name),
    committed: (name) => committedOf(committed.get(name)),
  });
  await deleteItems(trx, staging.dropped);
  await updateDifferences(trx, staging.kept);
  const added = staging.added.flatMap(({ resource, action, ...differences }) => {
    const row = rows.get(resource);
    return row === undefined ? [] : [{ ...itemOf(row, action, false), ...differences }];
  });
  await insertItems(trx, added, now, actor);
  // Nothing is left to do for an edit that was taken back.
  const dropped = new Set(staging.dropped);
  const settled = items.flatMap(({ uid, resource }) => (dropped.has(uid) ? (rows.get(resource) ?? []) : []));
  const back = settled.flatMap(({ name, state }) => (state === 'updated' ? [[name, 'operational'] as const] : []));
  await updateStates(trx, new Map(back), now);
}
