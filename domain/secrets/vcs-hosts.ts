/** The hosts that an administrator named for the common credentials. */

/** A host as an administrator names it; without a port it means the default port of http or https. */
export interface NamedHost {
  name: string;
  port: number | null;
}

const NAME = /^(?:\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?)$/;

/** `host` or `host:port` taken apart, whatever its case, with or without the dot at the end; null when it is neither. */
export function namedHost(text: string): NamedHost | null {
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
