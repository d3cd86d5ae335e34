/** Writes of secrets by an administrator, and what is looked at before one goes. */

import { musterError } from '../../domain/errors.ts';
import { VCS_SECRET } from '../../domain/secrets/credentials.ts';
import type { SecretStore, SecretUsers } from '../../domain/secrets/ports.ts';
import { type SecretUse, usesInWords } from '../../domain/secrets/secret-uses.ts';
import { readVcsHosts } from '../../domain/secrets/vcs-hosts.ts';
import { checkSecretForm } from './secret-forms.ts';

export interface SecretDependencies {
  secrets: SecretStore;
  users: SecretUsers;
  /** Who asks, stored with the change. */
  actor: string | null;
}

/** Sets one value of a secret; hosts that the common credentials may go to must be hosts. */
export async function putSecretValue(
  { secrets, users, actor }: SecretDependencies,
  name: string,
  key: string,
  value: string,
): Promise<void> {
  checkSecretForm(name, key, value);
  if (name === VCS_SECRET && key === 'vcs_hosts') {
    const [mistake] = readVcsHosts(value).mistakes;
    if (mistake !== undefined) {
      const shown = JSON.stringify(mistake.slice(0, 100));
      const rule = 'write a list with commas of HOST or HOST:PORT, without scheme, path or wildcard';
      throw musterError('bad_request', `vcs_hosts has ${shown}, which is no host: ${rule}`, 'value');
    }
  }
  await secrets.put(name, key, value, actor);
  await users.changed();
}

/**
 * Removes a secret, or one key of it. What something uses stays unless it is forced.
 * @throws `secret_not_found`, `secret_in_use`
 */
export async function deleteSecret(
  deps: SecretDependencies,
  name: string,
  key: string | null,
  { force }: { force: boolean },
): Promise<void> {
  const keys = await keysOf(deps.secrets, name);
  if (keys.length === 0 || (key !== null && !keys.includes(key))) {
    throw musterError('secret_not_found', `There is no secret ${name}${key === null ? '' : ` with the key ${key}`}`);
  }
  const uses = force ? [] : await deps.users.usesOf(name);
  if (uses.length > 0) {
    throw musterError('secret_in_use', `Secret ${name} is used: ${usesInWords(uses)}. Force the deletion to delete it`);
  }
  if (key === null) await deps.secrets.delete(name, deps.actor);
  else await deps.secrets.deleteKey(name, key, deps.actor);
  await deps.users.changed();
}

/** What uses a secret; one that nothing knows is `secret_not_found`. */
export async function readSecretUses(deps: SecretDependencies, name: string): Promise<SecretUse[]> {
  const uses = await deps.users.usesOf(name);
  if (uses.length === 0 && (await keysOf(deps.secrets, name)).length === 0) {
    throw musterError('secret_not_found', `There is no secret ${name}, and nothing asks for it`);
  }
  return uses;
}

/** A store of a cluster lists only what Muster has made there; a value that cannot be read has a key all the same. */
async function keysOf(secrets: SecretStore, name: string): Promise<string[]> {
  const listed = (await secrets.list()).find((secret) => secret.name === name);
  return listed?.keys ?? Object.keys((await secrets.get(name)) ?? {});
}
