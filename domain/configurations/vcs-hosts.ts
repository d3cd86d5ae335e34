/** Which hosts the common credentials (secret `vcs-user-credentials`) may go to: those that an administrator named. */
import type { NamedHost } from '../secrets/vcs-hosts.ts';
import { namedHost } from '../secrets/vcs-hosts.ts';
import { parseRepositoryUrl, REPOSITORY_SCHEMES, type RepositoryUrl } from './repository-url.ts';

/** Why the common credentials stay here, or that they may go. */
export type CredentialsVerdict = 'send' | 'host_not_named' | 'not_encrypted';

const DEFAULT_PORTS: Readonly<Record<string, number>> = { https: 443, http: 80 };
const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const LOOPBACK = new RegExp(`^(?:localhost|127(?:\\.${OCTET}){3}|\\[(?:::1|0:0:0:0:0:0:0:1)\\])$`);

/** The host that the address of a source names, null for a file. */
export function hostOfSource(cloneUrl: string): string | null {
  return parsed(cloneUrl)?.host ?? null;
}

/** Whether the common credentials may go to this address. Over plain http they go to this machine alone. */
export function verdictOf(url: RepositoryUrl, namedHosts: readonly string[]): CredentialsVerdict {
  if (url.scheme === 'http' && !isLoopback(url)) return 'not_encrypted';
  const host = namedHost(url.host ?? '');
  const port = host === null ? null : portOf(url.scheme, host);
  const isNamed = namedHosts.some((entry) => {
    const named = namedHost(entry);
    return named !== null && named.name === host?.name && portOf(url.scheme, named) === port;
  });
  return isNamed ? 'send' : 'host_not_named';
}

/** What an administrator writes into `vcs_hosts` to name the host of this address. */
export function entryOf(url: RepositoryUrl): string {
  const host = namedHost(url.host ?? '');
  if (host === null) return url.host ?? '';
  const isDefault = host.port === null || host.port === DEFAULT_PORTS[url.scheme];
  return isDefault ? host.name : `${host.name}:${host.port}`;
}

/** Whether two addresses are one server for git: the same scheme, host and port. */
export function isSameServer(one: string, other: string): boolean {
  const [left, right] = [parsed(one), parsed(other)];
  if (left === null || right === null) return false;
  return left.scheme === right.scheme && entryOf(left) === entryOf(right);
}

/**
 * Hosts of these clone addresses, as entries of `vcs_hosts`, to which the common credentials went before hosts had to be named and
 * do not go now; in the order of their names.
 */
export function hostsToName(cloneUrls: Iterable<string>, namedHosts: readonly string[]): string[] {
  const found = new Set<string>();
  for (const text of cloneUrls) {
    const url = parsed(text);
    if (url === null || (url.scheme !== 'https' && url.scheme !== 'http')) continue;
    if (verdictOf(url, namedHosts) === 'host_not_named') found.add(entryOf(url));
  }
  return [...found].sort();
}

function isLoopback(url: RepositoryUrl): boolean {
  return LOOPBACK.test(namedHost(url.host ?? '')?.name ?? '');
}

function portOf(scheme: string, { port }: NamedHost): number | null {
  return port ?? DEFAULT_PORTS[scheme] ?? null;
}

function parsed(text: string): RepositoryUrl | null {
  try {
    return parseRepositoryUrl(text, REPOSITORY_SCHEMES);
  } catch {
    return null;
  }
}
