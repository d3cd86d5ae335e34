/** The installation's named values: ansible.cfg files, the ssh key, passwords. Read when they are used, never kept. */

import type { Source } from '../../domain/configurations/schema.ts';
import { isMusterError, musterError } from '../../domain/errors.ts';
import { PLAIN_KEYS, VCS_SECRET } from '../../domain/secrets/credentials.ts';
import type { ConfigMaps, SecretStore } from '../../domain/secrets/ports.ts';
import { findSource } from '../../store/configurations/sources.ts';
import type { Db } from '../../store/connection/database.ts';
import { withSetupLock } from '../../store/connection/setup-lock.ts';
import { createRepositoryAccess } from './repository-access.ts';

/** Namespace of ConfigMaps that name none (cfs-flows 2.8). */
export const DEFAULT_NAMESPACE = 'services';
const DEFAULT_ANSIBLE_CONFIG = 'cfs-default-ansible-cfg';
const SSH_SECRET = 'muster-ssh';
const VAULT_SECRET = 'ansible-vault-password';
/** Key pair of sessions where Vault makes it, by the name that CFS gives it. */
const TRUST_SECRET = 'cfstrust';

export interface SiteValueOptions {
  db: Db;
  secrets: SecretStore;
  configMaps: ConfigMaps;
  /** Writes the ssh key and known hosts to files that only we may read; answers their paths. */
  sshFiles(values: { privateKey: string; knownHosts: string }): Promise<{ key: string; knownHosts: string }>;
  /** PEM of the CA that is trusted besides the public ones for repositories whose source names none. */
  platformCa?: string | undefined;
}

export type SiteValues = ReturnType<typeof createSiteValues>;

export function createSiteValues({ db, secrets, configMaps, sshFiles, platformCa }: SiteValueOptions) {
  const ssh = async () => {
    const secret = await secrets.get(SSH_SECRET);
    const privateKey = secret?.private;
    if (!privateKey?.trim()) throw musterError('config_missing', `Secret ${SSH_SECRET} has no key named private`);
    return {
      privateKey: privateKey.endsWith('\n') ? privateKey : `${privateKey}\n`,
      knownHosts: secret?.known_hosts ?? '',
    };
  };
  const access = createRepositoryAccess({
    db,
    secrets,
    caOf: async ({ ca_cert: ca }) =>
      ca === null ? null : configMaps.first(ca.configmap_namespace ?? DEFAULT_NAMESPACE, ca.configmap_name),
    sshFiles: async () => sshFiles(await ssh()),
    platformCa,
  });
  return {
    ssh,
    ansibleConfig: (name: string): Promise<string> =>
      configMaps.get(DEFAULT_NAMESPACE, name, 'ansible.cfg').catch((error: unknown) => {
        if (!isMusterError(error) || error.code !== 'config_missing') throw error;
        const where = 'named by ansible_config of the session, or else by option default_ansible_config';
        throw musterError('config_missing', `${error.detail}; it is ${where}`);
      }),
    vaultPassword: async (): Promise<string | null> => {
      const secret = await secrets.get(VAULT_SECRET);
      const value = secret?.password ?? Object.values(secret ?? {})[0];
      // Ansible refuses every playbook beside an empty password file.
      return value?.trim() ? value : null;
    },
    source: async (name: string): Promise<Source | null> => (await findSource(db, name)) ?? null,
    ...access,
    /** PEM of the CA that is trusted besides the public ones. */
    platformCa,
    masks: async (sources: Source[]): Promise<string[]> => {
      const own = [SSH_SECRET, TRUST_SECRET, VCS_SECRET, VAULT_SECRET];
      const names = [...own, ...sources.map((source) => source.credentials.secret_name)];
      const masks = new Set<string>();
      for (const name of names) {
        for (const [key, value] of Object.entries((await secrets.get(name)) ?? {})) {
          if (!PLAIN_KEYS.has(key)) masks.add(value.trim());
        }
      }
      return [...masks];
    },
  };
}

/**
 * Puts what a fresh installation needs in place: a key pair for ssh and the shipped ansible.cfg. Harmless to repeat; of several
 * processes that start at once one makes the key, and the others find it.
 */
export async function ensureSiteValues(options: {
  db: Db;
  secrets: SecretStore;
  configMaps: ConfigMaps;
  makeSshKey(): string;
  shippedAnsibleConfig: string;
}): Promise<void> {
  const { db, secrets, configMaps } = options;
  await withSetupLock(db, async () => {
    // Known hosts may be set before there is a key.
    if (!(await secrets.get(SSH_SECRET))?.private?.trim()) {
      await secrets.put(SSH_SECRET, 'private', options.makeSshKey());
    }
  });
  const stored = await configMaps.get(DEFAULT_NAMESPACE, DEFAULT_ANSIBLE_CONFIG, 'ansible.cfg').catch(() => null);
  if (stored === null) {
    await configMaps.put(DEFAULT_NAMESPACE, DEFAULT_ANSIBLE_CONFIG, 'ansible.cfg', options.shippedAnsibleConfig);
  }
}
