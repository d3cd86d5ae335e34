import type { Database, Kysely } from '../../control/database.ts';
import { noteAbsentHosts, noteNeededComponents } from '../../control/sessions/needed-components.ts';
import { loadSession, noteProgress, noteWarnings } from '../../control/sessions/session-progress.ts';
import type { Options } from '../../domain/configurations/schema.ts';
import { musterError } from '../../domain/errors.ts';
import { effectiveLimit } from '../../domain/sessions/ansible-arguments.ts';
import type { PreparedInventory } from './contract.ts';
import { absentHosts, type LimitDependencies, matchedHosts } from './limit-hosts.ts';
import type { Inventories } from './ports.ts';

export interface InventoryDependencies extends LimitDependencies {
  db: Kysely<Database>;
  inventories: Inventories;
  readOptions(): Promise<Options>;
}

/**
 * Writes the session's inventory into its workspace; a dynamic one without a host fails the session, but for debugging.
 * Records which hosts of its limit are missing, and which components it has to take before it runs.
 */
export async function writeInventory(
  deps: InventoryDependencies,
  sessionId: string,
  signal: AbortSignal,
): Promise<PreparedInventory> {
  const { db, workspaces, inventories, readOptions } = deps;
  const session = await loadSession(db, sessionId);
  await noteProgress(db, sessionId, { phase: 'inventory', message: 'writing the inventory' });
  const options = await readOptions();
  const { target, ansible_limit, snapshot } = session;
  const { hosts, limit, warnings } = await inventories.write({
    definition: target.definition,
    groups: target.groups ?? [],
    limit: effectiveLimit({ limit: ansible_limit, target }),
    scope: options.inventory_scope,
    allowPartial: options.allow_partial_inventory,
    dir: workspaces.paths(sessionId).hosts,
    signal,
  });
  await noteWarnings(db, sessionId, warnings);
  const absent = await absentHosts(deps, session, limit, signal);
  if (absent !== null) await noteAbsentHosts(db, sessionId, absent);
  if (hosts === 0 && target.definition === 'dynamic' && snapshot.debug_playbook === null) {
    const where = ansible_limit ? ` for the limit ${ansible_limit.slice(0, 200)}` : '';
    throw musterError('inventory_empty', `The inventory has no host${where}`);
  }
  return { leases: await noteNeededComponents(deps, session, () => matchedHosts(deps, session, limit, signal)) };
}
