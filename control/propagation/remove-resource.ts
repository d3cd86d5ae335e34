import { isDroppedByRemoval } from '../../domain/propagation/item-state.ts';
import { findConnectionsOf } from '../../store/propagation/connections.ts';
import { deleteEventsOf } from '../../store/propagation/resource-events.ts';
import {
  deleteResource,
  findCommitted,
  lockResource,
  markCommittedRemoved,
  type ResourceRow,
  updateResource,
} from '../../store/propagation/resources.ts';
import { deleteItems, insertItems } from '../../store/propagation/staged-items.ts';
import type { ModelDependencies, ModelWrite } from './dependencies.ts';
import { removeConnections } from './disconnect.ts';
import { freeItemsOf, itemOf, resourceNotFound } from './stage-edit.ts';
import { writeJoined } from './write-model.ts';

/** `staged`: it goes when the removal is committed; `deleted`: it is gone. */
export type Removal = 'staged' | 'deleted';

/**
 * Marks a resource for removal. A resource that was never committed is deleted at once, and so is each with `force`.
 * Throws `resource_not_found`, `item_in_plan`.
 */
export async function removeResource(deps: ModelDependencies, name: string, force: boolean): Promise<Removal> {
  return writeJoined(deps, async (write) => {
    const row = await lockResource(write.trx, name);
    if (row === null) throw resourceNotFound(name);
    return removeRow(write, row, force);
  });
}

/**
 * Removes a resource that is locked.
 * Throws `item_in_plan`.
 */
export async function removeRow(write: ModelWrite, row: ResourceRow, force: boolean): Promise<Removal> {
  const { trx, now, actor } = write;
  const items = await freeItemsOf(write, row.name);
  const committed = (await findCommitted(trx, [row.name])).get(row.name);
  if (force || committed?.state !== 'operational') {
    await deleteWhole(write, row);
    return 'deleted';
  }
  const dropped = items.filter(({ action }) => isDroppedByRemoval(action));
  await deleteItems(
    trx,
    dropped.map(({ uid }) => uid),
  );
  if (row.state !== 'removed') {
    await updateResource(trx, row.name, { state: 'removed', state_before: row.state }, now, actor);
  }
  await insertItems(trx, [itemOf(row, 'remove', false)], now, actor);
  return 'staged';
}

/** Deletes a resource with its connections, events and staged items. Its receivers have their own values again, and are staged. */
export async function deleteWhole(write: ModelWrite, row: ResourceRow): Promise<void> {
  const { trx, now } = write;
  const items = await freeItemsOf(write, row.name);
  await removeConnections(write, await findConnectionsOf(trx, row.name), false);
  await deleteEventsOf(trx, row.name);
  // Its own connections were removed too, which has staged it.
  const staged = [...items, ...(await freeItemsOf(write, row.name))];
  await deleteItems(trx, [...new Set(staged.map(({ uid }) => uid))]);
  await markCommittedRemoved(trx, row.name, now);
  await deleteResource(trx, row.name);
}
