/** Which hosts and records the common credentials are for, and which hosts they do not go to any more. */

import type { RepositoryUrl } from '../../domain/configurations/repository-url.ts';
import { parseRepositoryUrl, REPOSITORY_SCHEMES } from '../../domain/configurations/repository-url.ts';
import { hostOfSource, hostsToName, verdictOf } from '../../domain/configurations/vcs-hosts.ts';
import { VCS_SECRET, wholeCredentials } from '../../domain/secrets/credentials.ts';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import type { SecretUse } from '../../domain/secrets/secret-uses.ts';
import { readVcsHosts } from '../../domain/secrets/vcs-hosts.ts';
import type { NamedCloneUrl } from '../../store/configurations/clone-urls.ts';
import { listCloneUrls } from '../../store/configurations/clone-urls.ts';
import { listSourceUrls } from '../../store/configurations/sources.ts';
import type { Db } from '../../store/connection/database.ts';

export interface SecretUseDependencies {
  db: Db;
  secrets: Pick<SecretStore, 'get'>;
}

/**
 * Returns the hosts of stored addresses that got the common credentials before an administrator had to name hosts. Empty once `vcs_hosts` is set.
 */
export async function hostsNotNamed({ db, secrets }: SecretUseDependencies): Promise<string[]> {
  const secret = await secrets.get(VCS_SECRET);
  if (secret === null || secret.vcs_hosts !== undefined) return [];
  if ('lacks' in wholeCredentials(secret, { username: 'vcs_username', password: 'vcs_password' })) return [];
  const urls = (await listCloneUrls(db)).map(({ url }) => url);
  return hostsToName(urls, await hostsOfSources(db));
}

/** Configurations and options with an address that the common credentials go to. */
export async function commonUses({ db, secrets }: SecretUseDependencies): Promise<SecretUse[]> {
  const secret = await secrets.get(VCS_SECRET);
  if (secret === null) return [];
  if ('lacks' in wholeCredentials(secret, { username: 'vcs_username', password: 'vcs_password' })) return [];
  const hosts = [...readVcsHosts(secret.vcs_hosts ?? '').hosts, ...(await hostsOfSources(db))];
  const users = (await listCloneUrls(db)).filter(({ url }) => hasThem(url, hosts));
  const seen = new Map(users.map((user) => [`${user.kind} ${user.name}`, useOf(user)]));
  return [...seen.values()];
}

function hasThem(text: string, hosts: readonly string[]): boolean {
  let url: RepositoryUrl;
  try {
    url = parseRepositoryUrl(text, REPOSITORY_SCHEMES);
  } catch {
    return false;
  }
  return (url.scheme === 'https' || url.scheme === 'http') && verdictOf(url, hosts) === 'send';
}

async function hostsOfSources(db: Db): Promise<string[]> {
  return (await listSourceUrls(db)).flatMap((url) => hostOfSource(url) ?? []);
}

const useOf = ({ kind, name }: NamedCloneUrl): SecretUse => ({ kind, name });
