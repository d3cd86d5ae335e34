/** What an edit leaves behind: the state of the edited resources, and their staged items. */
import { musterError } from '../../domain/errors.ts';
import { actionOfEdit, stateAfterEdit } from '../../domain/propagation/item-state.ts';
import {
  findCommitted,
  findResources,
  lockResource,
  type ResourceRow,
  updateStates,
} from '../../store/propagation/resources.ts';
import { findItemsOf, insertItems, type NewItem, type StagedItemRow } from '../../store/propagation/staged-items.ts';
import { basePathOf } from './current-resources.ts';
import type { ModelWrite } from './dependencies.ts';

/** Stages resources that were edited: `run` until they were committed, `update` from then on. Those that are marked removed stay so. */
export async function stageEdited({ trx, now, actor }: ModelWrite, names: readonly string[]): Promise<void> {
  const rows = (await findResources(trx, [...new Set(names)])).filter(({ state }) => state !== 'removed');
  const committed = await findCommitted(
    trx,
    rows.map(({ name }) => name),
  );
  await updateStates(trx, new Map(rows.map(({ name, state }) => [name, stateAfterEdit(state)])), now);
  const items = rows.map((row) => itemOf(row, actionOfEdit(committed.get(row.name)?.state ?? null), false));
  await insertItems(trx, items, now, actor);
}

/** Returns a new item of a resource, without its differences, which staging works out. */
export function itemOf(row: ResourceRow, action: string, explicit: boolean): NewItem {
  return { resource: row.name, action, explicit, base_path: basePathOf(row), tags: row.tags };
}

/**
 * Returns a resource that may be edited, locked.
 * Throws `resource_not_found`, `validation_failed` for a resource that is marked removed.
 */
export async function editable({ trx }: ModelWrite, name: string): Promise<ResourceRow> {
  const row = await lockResource(trx, name);
  if (row === null) throw resourceNotFound(name);
  if (row.state === 'removed') {
    throw musterError('validation_failed', `Resource ${name} is marked for removal: discard that change first`);
  }
  return row;
}

export function resourceNotFound(name: string) {
  return musterError('resource_not_found', `There is no resource ${name.slice(0, 300)}`);
}

/**
 * Returns the staged items of a resource, none of which is in an open plan.
 * Throws `item_in_plan`.
 */
export async function freeItemsOf({ trx }: ModelWrite, name: string): Promise<StagedItemRow[]> {
  const items = await findItemsOf(trx, name);
  refusePlanned(items);
  return items;
}

/** Throws `item_in_plan` where an open plan has one of the items. */
export function refusePlanned(items: readonly StagedItemRow[]): void {
  const planned = items.find(({ plan }) => plan !== null);
  if (planned === undefined) return;
  throw musterError(
    'item_in_plan',
    `The change ${planned.resource}.${planned.action} is in plan ${planned.plan}: wait for its end, or abandon it`,
  );
}
