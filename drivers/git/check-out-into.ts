/** One repository, through its mirror, into a folder. */
import { rm } from 'node:fs/promises';
import { lastUsefulLine, readGitFailure } from '../../domain/configurations/git-failure.ts';
import type { RepositoryUrl } from '../../domain/configurations/repository-url.ts';
import { musterError } from '../../domain/errors.ts';
import { checkOut, copyMirror } from './checkout.ts';
import { ensureCommit } from './ensure-commit.ts';
import { type GitAccess, withAccess } from './git-access.ts';
import type { GitContext } from './git-context.ts';
import { GitFailure } from './git-process.ts';
import type { Remote } from './mirror.ts';
import type { UseMirror } from './mirrors.ts';
import { headOf } from './resolve-head.ts';
import { translated } from './translated.ts';

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

/** One repository into one folder: the checkout itself, or a submodule in it. */
export interface Wanted extends GitAccess {
  address: RepositoryUrl;
  /** The address as it was given: it names the mirror. */
  url: string;
  sourceName: string | null;
  commit: string | null;
  folder: string;
  signal: AbortSignal;
  onProgress?: ((line: string) => void) | undefined;
}

/** Checks the wanted commit out into the folder, without what other repositories and servers have of it; answers the commit. */
export async function checkOutInto(context: GitContext, wanted: Wanted): Promise<string> {
  const { address, folder, signal } = wanted;
  return translated(address, wanted, () =>
    withAccess(wanted, address, context, async (env) => {
      const remote = { url: address.url, env };
      const commit = wanted.commit?.toLowerCase() ?? (await headOf(context, remote, signal));
      try {
        return await checkOutOnce(context, wanted, remote, commit);
      } catch (error) {
        if (!(error instanceof LocalFailure)) throw error;
        refuseIfNotTheMirror(error, remote);
        context.log(`the mirror of ${remote.url} cannot be used and is made anew: ${lastUsefulLine(error.git.stderr)}`);
        await discardMirror(context, wanted, error.birth);
        await rm(folder, { recursive: true, force: true });
      }
      try {
        return await checkOutOnce(context, wanted, remote, commit);
      } catch (error) {
        if (!(error instanceof LocalFailure)) throw error;
        refuseIfNotTheMirror(error, remote);
        throw musterError('clone_failed', `${remote.url} cannot be checked out: ${lastUsefulLine(error.git.stderr)}`);
      }
    }),
  );
}

async function checkOutOnce(context: GitContext, wanted: Wanted, remote: Remote, commit: string): Promise<string> {
  const { run, mirrors } = context;
  const { folder, signal } = wanted;
  const copied = await mirrors.use(mirrorUse(wanted), async (mirror) => {
    const found = await ensureCommit(mirror, remote, commit);
    await mirror.touch();
    const copy = { commit: found, birth: await mirror.birth() };
    await asLocal(copy.birth, () => copyMirror(run, mirror.path, folder, signal));
    return copy;
  });
  await asLocal(copied.birth, () => checkOut(run, { folder, commit: copied.commit, url: remote.url, signal }));
  return copied.commit;
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

async function discardMirror(context: GitContext, wanted: Wanted, birth: string): Promise<void> {
  await context.mirrors.use(mirrorUse(wanted), async (mirror) => {
    if ((await mirror.birth()) === birth) await mirror.discard();
  });
}

/** Which mirror a repository has, and how it is used. */
export function mirrorUse({ url, sourceName, signal, onProgress }: Wanted): UseMirror {
  return { key: { url, sourceName }, signal, onProgress };
}
