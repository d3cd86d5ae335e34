/** How the host of an action is reached: an inventory of this host alone. */

import { isPlainHostName } from '../components/host-names.ts';
import { hostVariable, type VariableRules } from '../components/host-variables.ts';
import { componentInventory, type InventoryComponent } from '../components/inventory/inventory.ts';
import type { HostVariables, InventoryTree } from '../components/inventory/inventory-tree.ts';
import { musterError } from '../errors.ts';
import { LOCALHOST } from './target.ts';

/** Name under which the key of the host stands in the file of known hosts, whatever its address is. */
export const HOST_KEY_ALIAS = 'muster-target';

/** Name of a host whose address is no name that an inventory can have. */
const UNNAMED = 'target';

const HOST_KEY =
  /^(?:\S+[ \t]+)?((?:ssh-(?:ed25519|rsa)|ecdsa-sha2-nistp(?:256|384|521)|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com)[ \t]+[A-Za-z0-9+/]{16,16000}={0,3})(?:[ \t].*)?$/;

/** How a node is logged in to, as its transport says it. */
export interface Transport {
  user: string;
  hostKey: string;
  become: boolean;
}

/**
 * Returns the inventory of a component, as a session has it.
 * Throws `validation_failed` for a component that can be no host.
 */
export function componentTree(component: InventoryComponent, rules: VariableRules): InventoryTree {
  const tree = componentInventory([component], rules);
  const [left] = tree.leftOut;
  if (left === undefined) return tree;
  throw musterError('validation_failed', `Component ${component.id} can be no host: ${left.reason}`, 'location_id');
}

/** Returns the inventory of the machine of the worker, for an action that may run there. */
export function localTree(): InventoryTree {
  return treeOf(LOCALHOST, { ansible_connection: 'local' });
}

/**
 * Returns the inventory of a node, whose host key is checked whatever ansible.cfg says.
 * Throws `validation_failed` for an address, a port or a user that cannot be used.
 * @param target address and port, as the plan has frozen them
 * @param knownHosts the file with the text of `knownHosts`
 */
export function nodeTree(
  target: string,
  { user, become }: Transport,
  knownHosts: string,
  rules: VariableRules,
): InventoryTree {
  const { ip, port } = addressOf(target);
  const read = (name: string, text: string, field: string): string | number => {
    const found = hostVariable(name, text, rules);
    if (typeof found !== 'string') return found.value;
    throw musterError('validation_failed', `Input ${field} of the target ${found}`, field);
  };
  return treeOf(isPlainHostName(ip) ? ip : UNNAMED, {
    ansible_connection: 'ssh',
    ansible_host: read('ansible_host', ip, 'ip'),
    ansible_port: read('ansible_port', port, 'port'),
    ansible_user: read('ansible_user', user, 'user'),
    ansible_host_key_checking: true,
    ansible_ssh_args: sshArguments(knownHosts),
    ...(become ? { ansible_become: true, ansible_become_method: 'sudo' } : {}),
  });
}

const treeOf = (name: string, variables: HostVariables): InventoryTree => ({
  below: 'all',
  hosts: new Map([[name, variables]]),
  groups: new Map(),
});

/** Returns address and port of a target's key; the address may have colons itself. */
export function addressOf(target: string): { ip: string; port: string } {
  const at = target.lastIndexOf(':');
  return { ip: target.slice(0, at), port: target.slice(at + 1) };
}

/**
 * Returns the text of a file of known hosts: keys as `ssh-keyscan` or a file of public keys writes them, one a line.
 * Throws `validation_failed` where there is none, or a line is no key.
 */
export function knownHostsText(hostKey: string): string {
  const lines = hostKey.split(/\r?\n/).map((line) => line.trim());
  const keys = lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => HOST_KEY.exec(line)?.[1]);
  if (keys.length > 0 && keys.every((key) => key !== undefined)) {
    return keys.map((key) => `${HOST_KEY_ALIAS} ${key}\n`).join('');
  }
  throw musterError(
    'validation_failed',
    keys.length === 0
      ? 'The transport has no host_key: without the key of its host nothing is sent to a node'
      : 'Input host_key of the transport is no public key of a host, such as ssh-ed25519 AAAA...',
    'host_key',
  );
}

/**
 * How a node is logged in to is what its transport says. An ssh_config of this machine, with keys, proxies and commands of its own, is for
 * who works here.
 */
export const OWN_CONFIGURATION: readonly string[] = ['-F', '/dev/null'];

/** ssh takes the first value of an option that it is given. These stand before all that ansible.cfg adds. */
function sshArguments(knownHosts: string): string {
  const options = [
    ...hostKeyOptions(knownHosts),
    'IdentitiesOnly=yes',
    'ServerAliveInterval=30',
    'ControlMaster=auto',
    'ControlPersist=60s',
  ];
  const words = options.map((option) => `-o '${option.replaceAll("'", "'\\''")}'`);
  return [...OWN_CONFIGURATION, ...words].join(' ');
}

/** Returns the options by which ssh talks to no host but the one whose key is in a file of known hosts. */
export function hostKeyOptions(knownHosts: string): string[] {
  return [
    'StrictHostKeyChecking=yes',
    `UserKnownHostsFile="${knownHosts.replaceAll('%', '%%')}"`,
    'GlobalKnownHostsFile=/dev/null',
    `HostKeyAlias=${HOST_KEY_ALIAS}`,
    'UpdateHostKeys=no',
    // A key that DNS vouches for is no key of the transport.
    'VerifyHostKeyDNS=no',
  ];
}
