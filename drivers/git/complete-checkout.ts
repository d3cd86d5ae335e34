/** What a checkout needs from other repositories and servers: submodules, and content that git-lfs keeps. */
import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseRepositoryUrl } from '../../domain/configurations/repository-url.ts';
import { readGitmodules, type Submodule, submoduleUrl } from '../../domain/configurations/submodules.ts';
import { musterError } from '../../domain/errors.ts';
import { labelled } from '../../domain/labelled.ts';
import { checkOutInto, mirrorUse, type Wanted } from './check-out-into.ts';
import { removeEscapingLinks } from './escaping-links.ts';
import type { GitAccess } from './git-access.ts';
import type { GitContext } from './git-context.ts';
import { GitFailure } from './git-process.ts';
import { fetchLfsContent, pointersIn } from './lfs-content.ts';
import { treeContents } from './tree-contents.ts';

/** Submodules within submodules: more is a circle or no repository of playbooks. */
const DEPTH_MAX = 20;

export interface Incomplete {
  /** The repository that is checked out. */
  wanted: Wanted;
  accessOf(url: string): Promise<GitAccess>;
  /** The whole checkout, of which that repository's folder may be a part. */
  root: string;
  /** Takes the paths of links that are left out. */
  removedLinks: string[];
  depth: number;
}

/**
 * Brings in all that the commit has elsewhere, each submodule at its recorded commit and with its own. What cannot be had fails the
 * clone and is named by path and address; a part of the content is worse than none.
 */
export async function completeCheckout(context: GitContext, incomplete: Incomplete): Promise<void> {
  const { wanted, accessOf, root, removedLinks } = incomplete;
  const { folder, signal, address } = wanted;
  const tree = await treeContents(context.run, folder, signal);
  if (!tree.hasAttributes && tree.submodules.length === 0) return;
  // From here on files are written below folders of the repository: none of them may lead out.
  removedLinks.push(...(await removeEscapingLinks(root)));
  if (tree.hasAttributes) {
    const pointers = await pointersIn(context, folder, signal);
    if (pointers.length > 0) {
      await context.mirrors.use(mirrorUse(wanted), (mirror) => {
        const { hasLfsConfig } = tree;
        const { onProgress } = wanted;
        const storage = join(mirror.path, 'lfs');
        const request = { folder, url: address, access: wanted, accessOf, hasLfsConfig, storage, signal, onProgress };
        return fetchLfsContent(context, request, pointers);
      });
    }
  }
  if (tree.submodules.length === 0) return;
  const urls = await namedUrls(context, folder, signal);
  for (const submodule of tree.submodules) {
    await labelled(`submodule ${submodule.path}`, () =>
      bringIn(context, incomplete, submodule, urls.get(submodule.path)),
    );
  }
}

async function bringIn(
  context: GitContext,
  { wanted, accessOf, root, removedLinks, depth }: Incomplete,
  { path, commit }: Submodule,
  named: string | undefined,
): Promise<void> {
  const parent = wanted.address;
  if (named === undefined) {
    throw musterError('submodule_unknown', `${parent.url} has no address for it in .gitmodules`);
  }
  if (depth >= DEPTH_MAX) {
    throw musterError('repository_unsafe', `${parent.url} has more than ${DEPTH_MAX} levels of submodules`);
  }
  const address = parseRepositoryUrl(submoduleUrl(parent.url, named), context.allowedSchemes);
  const folder = await realFolder(wanted.folder, path, parent.url);
  const { sourceName, signal, onProgress } = wanted;
  const access = await accessOf(address.url);
  const submodule: Wanted = { ...access, address, url: address.url, sourceName, commit, folder, signal, onProgress };
  await checkOutInto(context, submodule);
  await completeCheckout(context, { wanted: submodule, accessOf, root, removedLinks, depth: depth + 1 });
}

/** Addresses by path, out of the commit itself: a file in its place may be a link. */
async function namedUrls(context: GitContext, folder: string, signal: AbortSignal): Promise<Map<string, string>> {
  const pattern = '^submodule\\..*\\.(path|url)$';
  const command = ['-C', folder, 'config', '--blob', 'HEAD:.gitmodules', '-z', '--get-regexp', pattern];
  try {
    return readGitmodules(await context.run(command, { signal }));
  } catch (error) {
    if (error instanceof GitFailure) return new Map();
    throw error;
  }
}

/** The folder of a submodule, made where it is not there, with no link on the way to it. */
async function realFolder(folder: string, path: string, url: string): Promise<string> {
  let here = folder;
  for (const step of path.split('/')) {
    const unsafe = step === '' || step === '.' || step === '..' || step.toLowerCase() === '.git';
    here = join(here, step);
    const stats = unsafe ? null : await lstat(here).catch(() => null);
    if (unsafe || (stats !== null && !stats.isDirectory())) {
      throw musterError('repository_unsafe', `${url} has something else in the place of a folder on the way to it`);
    }
    if (stats === null) await mkdir(here);
  }
  return here;
}
