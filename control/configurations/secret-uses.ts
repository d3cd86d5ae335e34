/** Who uses a secret, and which hosts the common credentials do not go to any more. */
import {
  parseRepositoryUrl,
  REPOSITORY_SCHEMES,
  type RepositoryUrl,
} from '../../domain/configurations/repository-url.ts';
import { VCS_SECRET, wholeCredentials } from '../../domain/configurations/vcs-credentials.ts';
import { hostOfSource, hostsToName, readVcsHosts, verdictOf } from '../../domain/configurations/vcs-hosts.ts';
import {
  builtInUses,
  IMAGE_KEY_PREFIX,
  ownerOfSecret,
  type SecretUse,
  WEBHOOK_SECRET_PREFIX,
} from '../../domain/secrets/secret-uses.ts';
import { listCloneUrls, type NamedCloneUrl } from '../../store/configurations/clone-urls.ts';
import { readOptions } from '../../store/configurations/options.ts';
import { listSourcesOfSecret, listSourceUrls } from '../../store/configurations/sources.ts';
import type { Db } from '../../store/connection/database.ts';
import { findSessionById } from '../../store/sessions/session-engine.ts';
import { findWebhook } from '../../store/webhooks/webhooks.ts';
import type { SecretStore } from './ports.ts';

export interface SecretUseDependencies {
  db: Db;
  secrets: Pick<SecretStore, 'get'>;
}

/** Every use of a secret: built-in ones, then options, sources, configurations, webhooks and sessions by their names. */
export async function secretUses(deps: SecretUseDependencies, name: string): Promise<SecretUse[]> {
  const { db } = deps;
  const sources = await listSourcesOfSecret(db, name);
  const { additional_inventory_source: inventory } = sources.length > 0 ? await readOptions(db) : {};
  const webhook = ownerOfSecret(name, WEBHOOK_SECRET_PREFIX);
  const owner = ownerOfSecret(name, IMAGE_KEY_PREFIX) ?? '';
  const session = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(owner) ? owner : null;
  return [
    ...builtInUses(name),
    ...(inventory && sources.includes(inventory) ? [use('option', 'additional_inventory_source')] : []),
    ...sources.map((source) => use('source', source)),
    ...(name === VCS_SECRET ? await commonUses(deps) : []),
    ...(webhook !== null && (await findWebhook(db, webhook)) !== null ? [use('webhook', webhook)] : []),
    ...(session !== null && (await findSessionById(db, session)) !== null ? [use('session', session)] : []),
  ];
}

/** Hosts of stored addresses that had the common credentials before hosts had to be named, where nobody has named any yet. */
export async function hostsNotNamed({ db, secrets }: SecretUseDependencies): Promise<string[]> {
  const secret = await secrets.get(VCS_SECRET);
  if (secret === null || secret.vcs_hosts !== undefined) return [];
  if ('lacks' in wholeCredentials(secret, { username: 'vcs_username', password: 'vcs_password' })) return [];
  const urls = (await listCloneUrls(db)).map(({ url }) => url);
  return hostsToName(urls, await hostsOfSources(db));
}

/** Configurations and options with an address that the common credentials go to. */
async function commonUses({ db, secrets }: SecretUseDependencies): Promise<SecretUse[]> {
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

const use = (kind: SecretUse['kind'], name: string): SecretUse => ({ kind, name });
const useOf = ({ kind, name }: NamedCloneUrl): SecretUse => ({ kind, name });
