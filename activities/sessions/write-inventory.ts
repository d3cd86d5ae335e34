import type { Database, Kysely } from '../../control/database.ts';
import { loadSession, noteProgress, noteWarnings } from '../../control/sessions/session-progress.ts';
import type { Options } from '../../domain/configurations/schema.ts';
import { musterError } from '../../domain/errors.ts';
import { effectiveLimit } from '../../domain/sessions/ansible-arguments.ts';
import type { Inventories, Workspaces } from './ports.ts';

export interface InventoryDependencies {
  db: Kysely<Database>;
  workspaces: Workspaces;
  inventories: Inventories;
  readOptions(): Promise<Options>;
}

/** Writes the session's inventory into its workspace; a dynamic one without a host fails the session, but for debugging. */
export async function writeInventory(
  { db, workspaces, inventories, readOptions }: InventoryDependencies,
  sessionId: string,
  signal: AbortSignal,
): Promise<void> {
  const session = await loadSession(db, sessionId);
  await noteProgress(db, sessionId, { phase: 'inventory', message: 'writing the inventory' });
  const options = await readOptions();
  const { target, ansible_limit, snapshot } = session;
  const { hosts, warnings } = await inventories.write({
    definition: target.definition,
    groups: target.groups ?? [],
    limit: effectiveLimit({ limit: ansible_limit, target }),
    scope: options.inventory_scope,
    allowPartial: options.allow_partial_inventory,
    dir: workspaces.paths(sessionId).hosts,
    signal,
  });
  await noteWarnings(db, sessionId, warnings);
  if (hosts === 0 && target.definition === 'dynamic' && snapshot.debug_playbook === null) {
    const where = ansible_limit ? ` for the limit ${ansible_limit.slice(0, 200)}` : '';
    throw musterError('inventory_empty', `The inventory has no host${where}`);
  }
}
