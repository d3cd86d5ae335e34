/** Repositories that are read from git: what may be asked of them, and which folders of a commit are definitions. */
import { secretInAddress } from '../configurations/address-secrets.ts';
import { isBranchOrTagName } from '../configurations/git-ref.ts';
import { parseRepositoryUrl } from '../configurations/repository-url.ts';
import { isMusterError, type MusterError, musterError } from '../errors.ts';
import { someOf } from '../some-of.ts';
import { isInside } from './read-definition.ts';

/** Definitions that one commit may have, and the bytes of all of them together. */
export const MOST_DEFINITIONS = 1_000;
export const LARGEST_COMMIT = 256 * 1_048_576;
/** Characters that are kept of why a sync failed. */
export const SYNC_REASON_MAX = 4_000;

/** What a request says of the repository; absent members have their defaults. */
export interface GivenOrigin {
  url?: string | undefined;
  ref?: string | undefined;
  path?: string | undefined;
  source?: string | undefined;
}

export interface GitOrigin {
  url: string;
  /** Branch, tag or commit; null for the default branch of the remote. */
  ref: string | null;
  /** Folder below which definitions are looked for; empty for the whole repository. */
  path: string;
  /** Source of the configurations that has credentials and CA. */
  source: string | null;
}

/**
 * Returns where a repository is read from, or null for a repository that definitions are put into.
 * Throws `validation_failed`, `repository_url_refused`, `password_in_address`.
 * @param schemes schemes of addresses that are allowed here
 */
export function gitOrigin(given: GivenOrigin, schemes: readonly string[]): GitOrigin | null {
  const { url, ref, source } = given;
  if (url === undefined) {
    const [member] = (['ref', 'path', 'source'] as const).filter((name) => given[name] !== undefined);
    if (member === undefined) return null;
    throw musterError('validation_failed', `${member} is of a repository that is read from git: give its url`, 'url');
  }
  const secret = secretInAddress(url, 'url');
  if (secret !== null) throw secret;
  parseRepositoryUrl(url, schemes);
  if (ref !== undefined && !isBranchOrTagName(ref)) {
    throw musterError('validation_failed', `${shown(ref)} cannot be the name of a branch, tag or commit`, 'ref');
  }
  return { url, ref: ref ?? null, path: pathOf(given.path ?? ''), source: source ?? null };
}

function pathOf(given: string): string {
  const path = given.replace(/\/+$/, '');
  if (path === '.' || given === '') return '';
  if (isInside(path) && !path.split('/').includes('.git')) return path;
  throw musterError(
    'validation_failed',
    `${shown(given)} is no folder of a repository: it must be relative, with no empty, ., .. or .git segment`,
    'path',
  );
}

const shown = (text: string) => JSON.stringify(text.slice(0, 300));

/** Names of folders that tell the version of a definition, whose name the folder above has. */
export const VERSION_FOLDER = /^\d+\.\d+\.\d+/;

/** Returns the name of the definition in a folder: the folder's name, or where that is a version the name of the folder above it. */
export function definitionNameOf(segments: readonly string[]): string {
  const named = segments.filter((segment) => segment !== '');
  const last = named.at(-1) ?? '';
  return (VERSION_FOLDER.test(last) ? named.at(-2) : last) ?? '';
}

/** One thing that is wrong with a commit, and the folder where it stands. */
export interface FolderMistake {
  folder: string;
  error: MusterError;
}

/** Does the work of one folder. Returns the mistake that it ends with, null for none. Throws what is no mistake of the folder. */
export async function mistakeOf(folder: string, work: () => Promise<void>): Promise<FolderMistake | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (!isMusterError(error)) throw error;
    return { folder, error };
  }
}

/** Returns all mistakes of a commit as one; the first gives the code. Null where there are none. */
export function joinMistakes(mistakes: readonly FolderMistake[]): MusterError | null {
  const [first] = mistakes;
  if (first === undefined) return null;
  const texts = mistakes.map(({ folder, error }) => `${folder === '' ? 'the whole folder' : folder}: ${error.detail}`);
  return musterError(first.error.code, someOf(texts, '; '));
}
