import { rm } from 'node:fs/promises';
import { lastUsefulLine, readGitFailure } from '../../domain/configurations/git-failure.ts';
import { isCommitId } from '../../domain/configurations/git-ref.ts';
import { parseRepositoryUrl } from '../../domain/configurations/repository-url.ts';
import { musterError } from '../../domain/errors.ts';
import { copyMirror, finishCheckout, openPart } from './checkout.ts';
import type { GitContext } from './create-git.ts';
import { ensureCommit } from './ensure-commit.ts';
import { type GitAccess, withAccess } from './git-access.ts';
import { GitFailure } from './git-process.ts';
import type { Remote } from './mirror.ts';
import type { UseMirror } from './mirrors.ts';
import { headOf } from './resolve-head.ts';
import { translated } from './translated.ts';

export interface CloneRequest extends GitAccess {
  url: string;
  /** Name of the source record that the layer names, `null` without one. */
  sourceName: string | null;
  /** Full commit id; `null` takes what the remote's HEAD names now. */
  commit: string | null;
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
}

/** A git that failed on this disk, with nothing asked of the remote: the mirror is suspect. */
class LocalFailure extends Error {
  readonly git: GitFailure;
  readonly birth: string;

  constructor(git: GitFailure, birth: string) {
    super(git.message);
    this.git = git;
    this.birth = birth;
  }
}

/**
 * Clones through the mirror of (url, source name): fetch what is missing, copy, check out detached, drop links that lead out. When
 * the copy cannot be used, the mirror is thrown away and all is done once more; a failure after that is not the mirror's.
 */
export async function cloneRepository(context: GitContext, request: CloneRequest): Promise<CloneResult> {
  const url = parseRepositoryUrl(request.url, context.allowedSchemes);
  if (request.commit !== null && !isCommitId(request.commit)) {
    throw musterError('commit_not_found', `'${request.commit}' is not a full commit id (40 hexadecimal digits).`);
  }
  return translated(url, request, () =>
    withAccess(request, url, context, async (env) => {
      const remote = { url: url.url, env };
      const commit = request.commit?.toLowerCase() ?? (await headOf(context, remote, request.signal));
      try {
        return await cloneOnce(context, request, remote, commit);
      } catch (error) {
        if (!(error instanceof LocalFailure)) throw error;
        refuseIfNotTheMirror(error, remote);
        context.log(`the mirror of ${remote.url} cannot be used and is made anew: ${lastUsefulLine(error.git.stderr)}`);
        await discardMirror(context, request, error.birth);
      }
      try {
        return await cloneOnce(context, request, remote, commit);
      } catch (error) {
        if (!(error instanceof LocalFailure)) throw error;
        refuseIfNotTheMirror(error, remote);
        throw musterError('clone_failed', `${remote.url} cannot be checked out: ${lastUsefulLine(error.git.stderr)}`);
      }
    }),
  );
}

async function cloneOnce(
  context: GitContext,
  request: CloneRequest,
  remote: Remote,
  wanted: string,
): Promise<CloneResult> {
  const { run, mirrors } = context;
  const { dest, signal } = request;
  const part = await openPart(dest);
  try {
    const { commit, birth } = await mirrors.use(mirrorUse(request), async (mirror) => {
      const found = await ensureCommit(mirror, remote, wanted);
      await mirror.touch();
      const copy = { commit: found, birth: await mirror.birth() };
      await asLocal(copy.birth, () => copyMirror(run, mirror.path, part, signal));
      return copy;
    });
    const checkout = { part, dest, commit, url: remote.url, signal };
    return { commit, warnings: await asLocal(birth, () => finishCheckout(run, checkout)) };
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

async function asLocal<T>(birth: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof GitFailure ? new LocalFailure(error, birth) : error;
  }
}

function refuseIfNotTheMirror(error: LocalFailure, remote: Remote): void {
  const { code, line } = readGitFailure(error.git.stderr);
  if (code === 'repository_unsafe') throw musterError(code, `${remote.url}: ${line}`);
  if (/no space left|quota exceeded|cannot be started/i.test(error.git.stderr)) {
    throw musterError('clone_failed', `${remote.url}: ${line}`);
  }
}

async function discardMirror(context: GitContext, request: CloneRequest, birth: string): Promise<void> {
  await context.mirrors.use(mirrorUse(request), async (mirror) => {
    if ((await mirror.birth()) === birth) await mirror.discard();
  });
}

function mirrorUse(request: CloneRequest): UseMirror {
  const { url, sourceName, signal, onProgress } = request;
  return { key: { url, sourceName }, signal, onProgress };
}
