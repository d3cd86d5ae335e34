import { musterError } from '../errors.ts';

/** Ways to reach a repository that Muster knows; which of them are allowed is configuration. */
export const REPOSITORY_SCHEMES = ['https', 'http', 'ssh', 'git', 'file'] as const;
export type RepositoryScheme = (typeof REPOSITORY_SCHEMES)[number];

/** A repository address that passed the rule, taken apart. */
export interface RepositoryUrl {
  scheme: RepositoryScheme;
  /** What git gets: never with a password, for http and https without a user too. */
  url: string;
  /** Host and port as written, `null` for files. */
  host: string | null;
  /** User of the address, decoded. */
  username: string | null;
  /** Password of an http or https address, decoded. */
  password: string | null;
}

const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_.])?)$/;
const SSH_USER = /^[A-Za-z0-9_][A-Za-z0-9._@+-]*$/;
const HELPER = /^[A-Za-z0-9][A-Za-z0-9+.-]*::/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const BLANK_OR_CONTROL = /[\s\u0000-\u001f\u007f-\u009f]/u;
const HIDDEN_CONTROL = /%(?:0[0-9a-f]|1[0-9a-f]|7f)/i;

/**
 * Takes a repository address apart, or throws `repository_url_refused`. Allowed are `scheme://` addresses of `allowed`,
 * `user@host:path` (ssh) and, where `file` is allowed, absolute paths. Refused is all that git could read as an option, as
 * a transport helper (`ext::...`) or as a path of this machine (cfs-decision h).
 */
export function parseRepositoryUrl(text: string, allowed: readonly string[]): RepositoryUrl {
  const refuse = (why: string): never => {
    throw musterError('repository_url_refused', `Repository URL '${shown(text)}' is refused: ${why}.`);
  };
  if (text === '') refuse('it is empty');
  if (BLANK_OR_CONTROL.test(text) || HIDDEN_CONTROL.test(text)) refuse('it has blanks or control characters');
  if (text.startsWith('-')) refuse('it begins with a hyphen');
  if (HELPER.test(text)) refuse('transport helpers are not allowed');
  const found = split(text);
  if (typeof found === 'string') return refuse(found);
  if (!allowed.includes(found.scheme)) {
    refuse(`the scheme ${found.scheme} is not allowed here (allowed: ${allowed.join(', ')})`);
  }
  return found;
}

function split(text: string): RepositoryUrl | string {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(text)?.[1];
  if (scheme !== undefined) return splitUrl(scheme.toLowerCase(), text.slice(scheme.length + 3));
  if (text.startsWith('/')) {
    return { scheme: 'file', url: `file://${encodeURI(text)}`, host: null, username: null, password: null };
  }
  return splitScp(text);
}

function splitUrl(scheme: string, rest: string): RepositoryUrl | string {
  if (!isScheme(scheme)) return `the scheme ${scheme} is not known`;
  if (scheme === 'file') {
    if (!rest.startsWith('/')) return 'a file address is file:// and an absolute path';
    return { scheme, url: `file://${rest}`, host: null, username: null, password: null };
  }
  const end = rest.search(/[/?#]/);
  const authority = end < 0 ? rest : rest.slice(0, end);
  const path = end < 0 ? '' : rest.slice(end);
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  if (!isHostAndPort(host)) return 'its host is not a plain name or address';
  const info = at < 0 ? null : userInfo(authority.slice(0, at));
  if (info === undefined) return 'its user part cannot be read';
  const username = info?.username ?? null;
  const password = info?.password ?? null;
  // All before the first slash is the host for some readers, also `?` and `#`; and what follows the last @ of that is where they go.
  if (path !== '' && !path.startsWith('/')) return 'it has no path';
  if (scheme === 'http' || scheme === 'https')
    return { scheme, url: `${scheme}://${host}${path}`, host, username, password };
  if (password !== null) return `${scheme} takes no password in the address`;
  if (scheme === 'git' && username !== null) return 'git:// takes no user';
  if (username !== null && !SSH_USER.test(username)) return 'its user is not a plain name';
  if (path === '' || path === '/') return 'it has no path';
  return {
    scheme,
    url: `${scheme}://${username === null ? '' : `${username}@`}${host}${path}`,
    host,
    username,
    password,
  };
}

function splitScp(text: string): RepositoryUrl | string {
  const parts = /^(?:([^/:@][^/:]*)@)?(\[[^\]/]*\]|[^/:@]+):(.+)$/.exec(text);
  if (parts === null) return 'it is neither a URL nor user@host:path';
  const [, username = null, host = '', path = ''] = parts;
  if (username !== null && !SSH_USER.test(username)) return 'its user is not a plain name';
  if (!HOST.test(host)) return 'its host is not a plain name or address';
  if (path.startsWith('-') || path.startsWith(':')) return 'its path is not a plain path';
  return { scheme: 'ssh', url: text, host, username, password: null };
}

function isScheme(scheme: string): scheme is RepositoryScheme {
  return (REPOSITORY_SCHEMES as readonly string[]).includes(scheme);
}

function isHostAndPort(text: string): boolean {
  const port = /:(\d{1,5})$/.exec(text);
  if (port === null) return HOST.test(text);
  return HOST.test(text.slice(0, port.index)) && Number(port[1]) >= 1 && Number(port[1]) <= 65535;
}

function userInfo(text: string): { username: string | null; password: string | null } | undefined {
  const colon = text.indexOf(':');
  try {
    const username = decodeURIComponent(colon < 0 ? text : text.slice(0, colon));
    const password = colon < 0 ? null : decodeURIComponent(text.slice(colon + 1));
    return { username: username === '' ? null : username, password: password === '' ? null : password };
  } catch {
    return undefined;
  }
}

/** A refused address may be malformed just where its password ends, so all up to the last `@` goes. */
function shown(text: string): string {
  const printable = text.replace(/[^\x20-\x7e]/g, '?').slice(0, 500);
  return printable.replace(/^([A-Za-z][A-Za-z0-9+.-]*:\/\/).*@/, '$1***@');
}
