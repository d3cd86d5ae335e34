/** Submodules of a repository as its `.gitmodules` names them: only path and address are taken, never a command. */
import { musterError } from '../errors.ts';

/** A submodule that a commit has. */
export interface Submodule {
  path: string;
  /** The commit that the repository has recorded for it. */
  commit: string;
}

/** Addresses by path, from `git config -z` over `.gitmodules`: `key`, line end, value, NUL. */
export function readGitmodules(output: string): Map<string, string> {
  const named = new Map<string, { path?: string; url?: string }>();
  for (const entry of output.split('\0')) {
    const end = entry.indexOf('\n');
    const [, name, member] = /^submodule\.(.*)\.(path|url)$/s.exec(end < 0 ? '' : entry.slice(0, end)) ?? [];
    if (name === undefined) continue;
    const value = entry.slice(end + 1);
    const module = named.get(name) ?? {};
    named.set(name, member === 'path' ? { ...module, path: value } : { ...module, url: value });
  }
  const found = new Map<string, string>();
  for (const { path, url } of named.values()) {
    if (path !== undefined && url !== undefined) found.set(path.replace(/\/+$/, ''), url);
  }
  return found;
}

/**
 * The address of a submodule: one that begins with `./` or `../` is beside that of the repository it stands in.
 * @throws `repository_url_refused` when it climbs above the server
 */
export function submoduleUrl(parent: string, url: string): string {
  if (!url.startsWith('./') && !url.startsWith('../')) return url;
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/]*/.exec(parent)?.[0] ?? '';
  let path = parent.slice(scheme.length).replace(/\/+$/, '');
  let rest = url;
  let separator = '/';
  while (rest.startsWith('./') || rest.startsWith('../')) {
    if (rest.startsWith('./')) {
      rest = rest.slice(2);
      continue;
    }
    rest = rest.slice(3);
    const slash = path.lastIndexOf('/');
    const colon = scheme === '' ? path.lastIndexOf(':') : -1;
    if (slash < 0 && colon < 0) {
      throw musterError('repository_url_refused', `its address '${url.slice(0, 200)}' leads above ${parent}`);
    }
    separator = slash >= 0 ? '/' : ':';
    path = path.slice(0, Math.max(slash, slash >= 0 ? slash : colon));
  }
  return `${scheme}${path}${separator}${rest}`.replace(/\/+$/, '');
}
