import { mkdir } from 'node:fs/promises';
import type { Inventories, InventoryRequest } from '../activities/sessions/ports.ts';
import { componentInventory, leftOutWarnings } from '../domain/components/inventory.ts';
import { hsmInventory } from '../domain/components/hsm-inventory.ts';
import { countHosts, type InventoryTree, restrictTo } from '../domain/components/inventory-tree.ts';
import { musterError } from '../domain/errors.ts';
import { plainLimitHosts } from '../domain/sessions/ansible-limit.ts';
import { specInventory } from '../domain/sessions/spec-inventory.ts';
import type { Db } from '../store/database.ts';
import { inventoryComponents } from '../store/inventory-components.ts';
import { writeInventory } from '../drivers/inventory/write-inventory.ts';

export interface InventoryOptions {
  db: Db;
  provider: 'components' | 'hsm';
  allowLocalConnection: boolean;
}

/** Inventories from the records or the hardware manager, written into the session's workspace (cfs-flows 3). */
export function createInventories(options: InventoryOptions): Inventories {
  return {
    write: async (request) => {
      const { tree, warnings } = await makeTree(options, request);
      await mkdir(request.dir, { recursive: true, mode: 0o700 });
      if (tree !== null) await writeInventory(request.dir, tree);
      return { hosts: tree === null ? null : countHosts(tree), warnings };
    },
  };
}

interface Made {
  tree: InventoryTree | null;
  warnings: string[];
}

async function makeTree(options: InventoryOptions, request: InventoryRequest): Promise<Made> {
  switch (request.definition) {
    case 'spec':
      return { tree: specInventory(request.groups), warnings: [] };
    case 'repo':
      return { tree: null, warnings: [] };
    case 'image':
      throw musterError('image_target_unsupported', 'Image targets are not available');
    case 'dynamic':
      return fromComponents(options, request);
  }
}

/** Just the hosts of a plain limit when all of them are components, else the whole fleet (option inventory_scope). */
async function fromComponents({ db, allowLocalConnection }: InventoryOptions, request: InventoryRequest): Promise<Made> {
  const wanted = request.scope === 'limit' ? plainLimitHosts(request.limit) : null;
  const some = wanted === null ? [] : await inventoryComponents(db, wanted);
  const components = wanted !== null && some.length === wanted.length ? some : await inventoryComponents(db, null);
  const tree = componentInventory(components, { allowLocalConnection });
  return { tree, warnings: leftOutWarnings(tree.leftOut) };
}
