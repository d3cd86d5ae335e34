/** How repositories are reached: whose credentials and which certificates go to an address. */

import type { CommonCredentials, ReadRepositoryAccess, RepositoryAccess } from '../../domain/configurations/ports.ts';
import { parseRepositoryUrl, REPOSITORY_SCHEMES } from '../../domain/configurations/repository-url.ts';
import type { Source } from '../../domain/configurations/schema.ts';
import { incomplete, notSent, type Withheld } from '../../domain/configurations/vcs-credentials.ts';
import { hostOfSource, isSameServer, verdictOf } from '../../domain/configurations/vcs-hosts.ts';
import { musterError } from '../../domain/errors.ts';
import { type Credentials, VCS_SECRET, wholeCredentials } from '../../domain/secrets/credentials.ts';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import { readVcsHosts } from '../../domain/secrets/vcs-hosts.ts';
import { listSourceUrls } from '../../store/configurations/sources.ts';
import type { Db } from '../../store/connection/database.ts';

export interface RepositoryAccessDependencies {
  db: Db;
  secrets: Pick<SecretStore, 'get'>;
  /** Certificates (PEM) of a source that names some. */
  caOf(source: Source): Promise<string | null>;
  /** Files with the installation's key for ssh and its known hosts; throws `config_missing`. */
  sshFiles(): Promise<{ key: string; knownHosts: string }>;
  platformCa: string | undefined;
}

type Chosen = Pick<RepositoryAccess, 'credentials' | 'withheld'>;

const COMMON_KEYS = { username: 'vcs_username', password: 'vcs_password' };
const SOURCE_KEYS = { username: 'username', password: 'password' };

/**
 * Reads how an address is reached. A source's credentials and certificates go to that source's own server and to no other one;
 * everything else is reached with the common ones, which go to named hosts only. What an address does not need is not read.
 */
export function createRepositoryAccess(deps: RepositoryAccessDependencies): {
  repositoryAccess: ReadRepositoryAccess;
  commonCredentials(): Promise<CommonCredentials | null>;
} {
  const namedHosts = async (secret: Record<string, string>): Promise<string[]> => [
    ...readVcsHosts(secret.vcs_hosts ?? '').hosts,
    ...(await listSourceUrls(deps.db)).flatMap((url) => hostOfSource(url) ?? []),
  ];
  const ofSource = async (source: Source): Promise<Chosen> => {
    const name = source.credentials.secret_name;
    const secret = await deps.secrets.get(name);
    if (secret === null) {
      throw musterError(
        'config_missing',
        `Secret ${name} of source ${source.name} is missing: set its credentials again`,
      );
    }
    return chosen(name, wholeCredentials(secret, SOURCE_KEYS), source.name);
  };
  const common = async (text: string): Promise<Chosen> => {
    const secret = await deps.secrets.get(VCS_SECRET);
    if (secret === null) return {};
    const found = chosen(VCS_SECRET, wholeCredentials(secret, COMMON_KEYS), null);
    if (found.credentials === undefined) return found;
    const url = parseRepositoryUrl(text, REPOSITORY_SCHEMES);
    const verdict = verdictOf(url, await namedHosts(secret));
    return verdict === 'send' ? found : { withheld: notSent(url, verdict) };
  };
  return {
    repositoryAccess: async (source, text) => {
      const { scheme } = parseRepositoryUrl(text, REPOSITORY_SCHEMES);
      if (scheme === 'ssh') {
        const files = await deps.sshFiles();
        return { sshKeyFile: files.key, knownHostsFile: files.knownHosts };
      }
      if (scheme !== 'http' && scheme !== 'https') return {};
      if (source === null || !isSameServer(source.clone_url, text)) {
        return { ...(await common(text)), caPem: deps.platformCa, caAlone: false };
      }
      const ca = await deps.caOf(source);
      return { ...(await ofSource(source)), caPem: ca ?? deps.platformCa, caAlone: ca !== null };
    },
    commonCredentials: async () => {
      const secret = await deps.secrets.get(VCS_SECRET);
      const whole = secret === null ? null : wholeCredentials(secret, COMMON_KEYS);
      if (secret === null || whole === null || 'lacks' in whole) return null;
      return { ...whole, hosts: await namedHosts(secret) };
    },
  };
}

function chosen(secretName: string, whole: Credentials | { lacks: string }, source: string | null): Chosen {
  if (!('lacks' in whole)) return { credentials: whole };
  const withheld: Withheld = incomplete(secretName, whole.lacks, source);
  return { withheld };
}
