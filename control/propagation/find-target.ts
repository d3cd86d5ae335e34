/** What an action runs on, as it is known when an attempt begins. Its address is the one that its plan has frozen. */
import type { InventoryComponent } from '../../domain/components/inventory/inventory.ts';
import { musterError } from '../../domain/errors.ts';
import type { Transport } from '../../domain/propagation/action-login.ts';
import { isPlain, LOCALHOST } from '../../domain/propagation/target.ts';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import { inventoryComponents } from '../../store/components/inventory-components.ts';
import type { Db } from '../../store/connection/database.ts';
import type { PlanNodeRow } from '../../store/propagation/plan-tables.ts';
import { findPlaces } from '../../store/propagation/resources.ts';
import { readCurrent } from './current-resources.ts';
import { readSecret } from './read-action.ts';

export type ActionTarget =
  | { kind: 'local' }
  | { kind: 'component'; component: InventoryComponent }
  /** `key`: the private key that the transport refers to; null where it refers to none. */
  | { kind: 'node'; address: string; transport: Transport; key: string | null };

const COMPONENT = 'component:';

/**
 * Finds the target of a node. How it is logged in to is read now: who mends a transport tries a failed plan again, and no resource is staged
 * by that.
 * Throws `component_not_found`, `validation_failed` where the target has no transport, and what a secret key is refused with.
 */
export async function findTarget(
  { db, secrets }: { db: Db; secrets: Pick<SecretStore, 'get'> },
  { id, target }: Pick<PlanNodeRow, 'id' | 'target'>,
  inputs: Readonly<Record<string, unknown>>,
): Promise<ActionTarget> {
  if (target === LOCALHOST) return { kind: 'local' };
  if (target === null) throw musterError('validation_failed', `Node ${id} has no location to run at`, 'location_id');
  if (isPlain(target)) {
    const name = target.slice(COMPONENT.length);
    const [component] = await inventoryComponents(db, [name]);
    if (component !== undefined) return { kind: 'component', component };
    throw musterError('component_not_found', `Component ${name}, where node ${id} runs, is not there`, 'location_id');
  }
  const values = await transportOf(db, id, inputs.transports_id);
  const { user, host_key: hostKey, become } = values;
  return {
    kind: 'node',
    address: target,
    transport: {
      user: typeof user === 'string' ? user : '',
      hostKey: typeof hostKey === 'string' ? hostKey : '',
      become: become === true,
    },
    key: await readSecret(secrets, 'key', values.key ?? null),
  };
}

async function transportOf(db: Db, node: string, place: unknown): Promise<Readonly<Record<string, unknown>>> {
  const known = typeof place === 'string' && place !== '';
  const [found] = known ? await findPlaces(db, 'transports_id', [place], 'user') : [];
  const current = found === undefined ? undefined : (await readCurrent(db, [found.name])).current.get(found.name);
  if (current !== undefined) return current.resolved;
  throw musterError(
    'validation_failed',
    known
      ? `The transport of node ${node} is not there any more`
      : `Node ${node} has no transport: connect a resource of muster/transport_ssh to its target`,
    'transports_id',
  );
}
