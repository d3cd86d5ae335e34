import { rm } from 'node:fs/promises';
import { isCommitId } from '../../domain/configurations/git-ref.ts';
import { parseRepositoryUrl } from '../../domain/configurations/repository-url.ts';
import { musterError } from '../../domain/errors.ts';
import { checkOutInto, type Wanted } from './check-out-into.ts';
import { openPart, putInPlace } from './checkout.ts';
import { completeCheckout } from './complete-checkout.ts';
import { removeEscapingLinks } from './escaping-links.ts';
import type { GitAccess } from './git-access.ts';
import type { GitContext } from './git-context.ts';

export interface CloneRequest extends GitAccess {
  url: string;
  /** Name of the source record that the layer names, `null` without one. */
  sourceName: string | null;
  /** Full commit id; `null` takes what the remote's HEAD names now. */
  commit: string | null;
  /** How another server is reached: that of a submodule, or of content that git-lfs keeps. Default: without credentials. */
  accessOf?: ((url: string) => Promise<GitAccess>) | undefined;
  /** Becomes the checkout in one step; what is there before is replaced. */
  dest: string;
  /** Kills git at once when it aborts; the call then rejects with the signal's reason. */
  signal: AbortSignal;
  onProgress?: (line: string) => void;
}

export interface CloneResult {
  /** The commit that is checked out, 40 hexadecimal digits. */
  commit: string;
  /** What was left out of the checkout, and why. */
  warnings: string[];
  /** Paths of links that were left out because they lead out of the checkout. */
  removedLinks: string[];
}

/**
 * Clones through the mirror of (url, source name): fetch what is missing, copy, check out detached, bring in submodules and what git-lfs
 * keeps, drop links that lead out. When the copy cannot be used, the mirror is thrown away and all is done once more; a failure after
 * that is not the mirror's.
 */
export async function cloneRepository(context: GitContext, request: CloneRequest): Promise<CloneResult> {
  const address = parseRepositoryUrl(request.url, context.allowedSchemes);
  const { dest, signal } = request;
  if (request.commit !== null && !isCommitId(request.commit)) {
    throw musterError('commit_not_found', `'${request.commit}' is not a full commit id (40 hexadecimal digits).`);
  }
  const part = await openPart(dest);
  try {
    const accessOf = request.accessOf ?? (async () => ({}));
    const wanted: Wanted = { ...request, address, folder: part };
    const commit = await checkOutInto(context, wanted);
    const removedLinks: string[] = [];
    await completeCheckout(context, { wanted, accessOf, root: part, removedLinks, depth: 0 });
    removedLinks.push(...(await removeEscapingLinks(part)));
    signal.throwIfAborted();
    await putInPlace(part, dest);
    const warnings = removedLinks.map((path) => `Symbolic link '${path}' leads out of the repository and was removed.`);
    return { commit, warnings: warnings.sort(), removedLinks: removedLinks.sort() };
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}
