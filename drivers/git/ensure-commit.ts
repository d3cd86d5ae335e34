import { readGitFailure } from '../../domain/configurations/git-failure.ts';
import { musterError } from '../../domain/errors.ts';
import { GitFailure } from './git-process.ts';
import type { Mirror, Remote } from './mirror.ts';

/**
 * Makes sure that the mirror has `commit` and answers its id. The remote is asked only when it is not here yet: first for all
 * branches and tags, then for the commit by its id. A broken mirror is made anew before the commit is called missing.
 */
export async function ensureCommit(mirror: Mirror, remote: Remote, commit: string): Promise<string> {
  const here = await mirror.commit(commit);
  if (here !== null) return here;
  await mirror.refresh(remote);
  const found = (await mirror.commit(commit)) ?? (await fetchById(mirror, remote, commit));
  if (found !== null) return found;
  const mended = (await mirror.repair(remote)) ? await mirror.commit(commit) : null;
  if (mended !== null) return mended;
  throw musterError('commit_not_found', `${remote.url} has no commit ${commit} that can be fetched.`);
}

async function fetchById(mirror: Mirror, remote: Remote, commit: string): Promise<string | null> {
  try {
    await mirror.fetchCommit(remote, commit);
  } catch (error) {
    if (error instanceof GitFailure && readGitFailure(error.stderr).code === 'commit_not_found') return null;
    throw error;
  }
  return mirror.commit(commit);
}
