/** Content that git-lfs keeps: put in place of its pointers, or the clone fails and names the first file. */
import { lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import { isLfsPointer, POINTER_MAX, readLfsFailure } from '../../domain/configurations/lfs.ts';
import { parseRepositoryUrl, type RepositoryUrl } from '../../domain/configurations/repository-url.ts';
import { musterError } from '../../domain/errors.ts';
import { maskSecrets } from '../../domain/runs/mask.ts';
import { type GitAccess, withAccess } from './git-access.ts';
import type { GitContext } from './git-context.ts';
import { GitFailure } from './git-process.ts';
import { PRIVATE } from './mirror.ts';
import { lfsPaths } from './tree-contents.ts';

export interface LfsRequest {
  folder: string;
  url: RepositoryUrl;
  access: GitAccess;
  /** How another server is reached, that the repository may name for its content. */
  accessOf(url: string): Promise<GitAccess>;
  hasLfsConfig: boolean;
  /** Folder that keeps fetched content for other clones; nobody else uses it meanwhile. */
  storage: string;
  signal: AbortSignal;
  onProgress?: ((line: string) => void) | undefined;
}

/** Paths of the files in `folder` that are pointers still. */
export async function pointersIn(context: GitContext, folder: string, signal: AbortSignal): Promise<string[]> {
  const pointers: string[] = [];
  for (const path of await lfsPaths(context.run, folder, signal)) {
    if (await isPointerFile(join(folder, path))) pointers.push(path);
  }
  return pointers;
}

/** Fetches what the pointers mean and puts it in their place; `pointers` are those that there are. */
export async function fetchLfsContent(
  context: GitContext,
  request: LfsRequest,
  pointers: readonly string[],
): Promise<void> {
  const { folder, signal } = request;
  const [first = ''] = pointers;
  const what = `${request.url.url}: ${first}${pointers.length > 1 ? ` and ${pointers.length - 1} more files` : ''}`;
  await requireLfs(context, what, signal);
  const server = await lfsServer(context, request);
  const url = server ?? request.url;
  const access = server === null ? request.access : await request.accessOf(server.url);
  // What the repository itself says of its server stands behind this. Without filters git-lfs puts nothing in place.
  const settings = [
    `lfs.storage=${request.storage}`,
    'lfs.transfer.maxretries=2',
    'lfs.skipdownloaderrors=false',
    'filter.lfs.clean=git-lfs clean -- %f',
    'filter.lfs.smudge=git-lfs smudge -- %f',
    'filter.lfs.process=git-lfs filter-process',
    'filter.lfs.required=true',
  ].flatMap((setting) => ['-c', setting]);
  if (server !== null) settings.push('-c', `lfs.url=${server.url}`);
  const lfs = (env: Record<string, string>, more: string[], ...args: string[]) =>
    context.run(['-C', folder, ...settings, ...more, 'lfs', ...args], { env, signal, onProgress: request.onProgress });
  try {
    await withAccess(access, url, context, async (env) => {
      await lfs(env, PRIVATE, 'fetch', '--include=', '--exclude=', 'origin', 'HEAD');
      await lfs(env, [], 'checkout');
    });
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    throw failureOf(error, what, access, url);
  }
  const [left] = await pointersIn(context, folder, signal);
  if (left !== undefined) throw musterError('lfs_object_missing', `${request.url.url}: git-lfs did not bring ${left}`);
}

function failureOf(error: GitFailure, what: string, access: GitAccess, url: RepositoryUrl): Error {
  const { code, line } = readLfsFailure(error.stderr);
  const secrets = [access.credentials?.password ?? '', url.password ?? ''];
  const { withheld } = access;
  const sentence = `${what}: git-lfs: ${line}`;
  if (code === 'repository_auth_failed' && withheld !== undefined) {
    return musterError(withheld.code, maskSecrets(`${sentence}. ${withheld.detail}`, secrets));
  }
  return musterError(code, maskSecrets(sentence, secrets));
}

async function requireLfs(context: GitContext, what: string, signal: AbortSignal): Promise<void> {
  try {
    await context.run(['lfs', 'version'], { signal });
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    const fix = 'install git-lfs where Muster clones (Debian package git-lfs)';
    throw musterError('lfs_unavailable', `${what}: its content is kept by git-lfs, which is not installed: ${fix}`);
  }
}

/** The server that `.lfsconfig` names, by the rules for every address; null where it names none. */
async function lfsServer(
  context: GitContext,
  { folder, hasLfsConfig, signal }: LfsRequest,
): Promise<RepositoryUrl | null> {
  if (!hasLfsConfig) return null;
  for (const key of ['lfs.url', 'remote.origin.lfsurl']) {
    const named = await context
      .run(['-C', folder, 'config', '--blob', 'HEAD:.lfsconfig', '--get', key], { signal })
      .catch((error: unknown) => {
        if (error instanceof GitFailure) return '';
        throw error;
      });
    const text = named.replace(/\n$/, '');
    if (text !== '') return parseRepositoryUrl(text, context.allowedSchemes);
  }
  return null;
}

async function isPointerFile(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => null);
  if (!stats?.isFile() || stats.size > POINTER_MAX) return false;
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(POINTER_MAX), 0, POINTER_MAX, 0);
    return isLfsPointer(buffer.toString('latin1', 0, bytesRead));
  } finally {
    await file.close();
  }
}
