/** The installation's named values: ansible.cfg files, the ssh key, passwords. Read when they are used, never kept. */
import type { Kysely } from 'kysely';
import type { Source } from '../../domain/configurations/schema.ts';
import { musterError } from '../../domain/errors.ts';
import { withSetupLock } from '../../store/setup-lock.ts';
import { findSource } from '../../store/sources.ts';
import type { Database } from '../../store/tables.ts';
import type { RepositoryAccess, SecretStore } from './ports.ts';
import type { ConfigMaps } from './site-ports.ts';

/** Namespace of ConfigMaps that name none (cfs-flows 2.8). */
export const DEFAULT_NAMESPACE = 'services';
export const DEFAULT_ANSIBLE_CONFIG = 'cfs-default-ansible-cfg';
export const SSH_SECRET = 'muster-ssh';
export const VCS_SECRET = 'vcs-user-credentials';
export const VAULT_SECRET = 'ansible-vault-password';
/** Key pair of sessions where Vault makes it, by the name that CFS gives it. */
export const TRUST_SECRET = 'cfstrust';

export interface SiteValueOptions {
  db: Kysely<Database>;
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
    if (!privateKey) throw musterError('config_missing', `Secret ${SSH_SECRET} has no key named private`);
    return {
      privateKey: privateKey.endsWith('\n') ? privateKey : `${privateKey}\n`,
      knownHosts: secret?.known_hosts ?? '',
    };
  };
  const credentials = async (source: Source | null) => {
    const name = source?.credentials.secret_name ?? VCS_SECRET;
    const secret = await secrets.get(name);
    if (secret === null) {
      // Repositories that everybody may read need none; a source has said that it does.
      if (source === null) return undefined;
      throw musterError(
        'config_missing',
        `Secret ${name} of source ${source.name} is missing: set its credentials again`,
      );
    }
    const username = (source === null ? secret.vcs_username : secret.username)?.trim();
    const password = (source === null ? secret.vcs_password : secret.password)?.trim();
    if (!username || !password) throw musterError('config_missing', `Secret ${name} lacks username or password`);
    return { username, password };
  };
  return {
    ssh,
    ansibleConfig: (name: string): Promise<string> => configMaps.get(DEFAULT_NAMESPACE, name, 'ansible.cfg'),
    vaultPassword: async (): Promise<string | null> => {
      const secret = await secrets.get(VAULT_SECRET);
      return secret?.password ?? (secret === null ? null : (Object.values(secret)[0] ?? null));
    },
    source: async (name: string): Promise<Source | null> => (await findSource(db, name)) ?? null,
    repositoryAccess: async (source: Source | null): Promise<RepositoryAccess> => {
      const files = await sshFiles(await ssh());
      const ca = source?.ca_cert;
      return {
        credentials: await credentials(source),
        caPem: ca ? await configMaps.first(ca.configmap_namespace ?? DEFAULT_NAMESPACE, ca.configmap_name) : platformCa,
        caAlone: Boolean(ca),
        sshKeyFile: files.key,
        knownHostsFile: files.knownHosts,
      };
    },
    masks: async (sources: Source[]): Promise<string[]> => {
      const own = [SSH_SECRET, TRUST_SECRET, VCS_SECRET, VAULT_SECRET];
      const names = [...own, ...sources.map((source) => source.credentials.secret_name)];
      const masks = new Set<string>();
      for (const name of names) {
        for (const [key, value] of Object.entries((await secrets.get(name)) ?? {})) {
          if (!['known_hosts', 'public', 'username', 'vcs_username'].includes(key)) masks.add(value.trim());
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
  db: Kysely<Database>;
  secrets: SecretStore;
  configMaps: ConfigMaps;
  makeSshKey(): string;
  shippedAnsibleConfig: string;
}): Promise<void> {
  const { db, secrets, configMaps } = options;
  await withSetupLock(db, async () => {
    if ((await secrets.get(SSH_SECRET)) === null) await secrets.put(SSH_SECRET, 'private', options.makeSshKey());
  });
  const stored = await configMaps.get(DEFAULT_NAMESPACE, DEFAULT_ANSIBLE_CONFIG, 'ansible.cfg').catch(() => null);
  if (stored === null) {
    await configMaps.put(DEFAULT_NAMESPACE, DEFAULT_ANSIBLE_CONFIG, 'ansible.cfg', options.shippedAnsibleConfig);
  }
}
