/** Components as the store hands them on to inventories, few at a time. */
import type { InventoryComponent } from '../../../domain/components/inventory/inventory.ts';
import type { EachPage } from '../../../drivers/inventory/write-fleet.ts';

const PAGE = 3;

/** Returns the reads of a store that has these components. */
export function fleetRecords(components: readonly InventoryComponent[]): {
  readComponents(ids: readonly string[]): Promise<InventoryComponent[]>;
  eachPage: EachPage;
} {
  const inOrder = [...components].sort((a, b) => (a.id < b.id ? -1 : 1));
  return {
    readComponents: async (ids) => components.filter(({ id }) => ids.includes(id)),
    eachPage: async (take) => {
      for (let at = 0; at < inOrder.length; at += PAGE) await take(inOrder.slice(at, at + PAGE));
    },
  };
}
