/** Which hosts the common credentials (secret `vcs-user-credentials`) may go to: those that an administrator named. */
import { parseRepositoryUrl, REPOSITORY_SCHEMES, type RepositoryUrl } from './repository-url.ts';

/** A host as an administrator names it; without a port it means the default port of http or https. */
interface NamedHost {
  name: string;
  port: number | null;
}

/** Why the common credentials stay here, or that they may go. */
export type CredentialsVerdict = 'send' | 'host_not_named' | 'not_encrypted';

const DEFAULT_PORTS: Readonly<Record<string, number>> = { https: 443, http: 80 };
const NAME = /^(?:\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?)$/;
const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const LOOPBACK = new RegExp(`^(?:localhost|127(?:\\.${OCTET}){3}|\\[(?:::1|0:0:0:0:0:0:0:1)\\])$`);

/** `host` or `host:port` taken apart, whatever its case, with or without the dot at the end; null when it is neither. */
function namedHost(text: string): NamedHost | null {
  const parts = /^(\[[^\]]*\]|[^:]*)(?::([0-9]{1,5}))?$/.exec(text.trim().toLowerCase());
  const name = parts?.[1]?.replace(/\.$/, '') ?? '';
  const port = parts?.[2] === undefined ? null : Number(parts[2]);
  if (!NAME.test(name) || (port !== null && (port < 1 || port > 65535))) return null;
  return { name, port };
}

/** The entries of the key `vcs_hosts`, a list with commas, and those of them that are no host. */
export function readVcsHosts(text: string): { hosts: string[]; mistakes: string[] } {
  const entries = text
    .split(/[,\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return {
    hosts: entries.filter((entry) => namedHost(entry) !== null),
    mistakes: entries.filter((entry) => namedHost(entry) === null),
  };
}

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
