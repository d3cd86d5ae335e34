import { commitOfHead } from '../../domain/configurations/git-ref.ts';
import { parseRepositoryUrl } from '../../domain/configurations/repository-url.ts';
import { musterError } from '../../domain/errors.ts';
import { withAccess } from './git-access.ts';
import type { GitContext } from './git-context.ts';
import type { Remote } from './mirror.ts';
import type { ResolveRequest } from './resolve-ref.ts';
import { translated } from './translated.ts';

/**
 * The commit that the remote's default branch is at. Throws `commit_not_found` when it has none, `clone_failed` when the remote
 * does not answer in time.
 */
export async function resolveHead(context: GitContext, request: Omit<ResolveRequest, 'ref'>): Promise<string> {
  const url = parseRepositoryUrl(request.url, context.allowedSchemes);
  const { timeoutMs = 30_000 } = request;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([request.signal, timeout]);
  try {
    return await translated(url, request, () =>
      withAccess(request, url, context, (env) => headOf(context, { url: url.url, env }, signal)),
    );
  } catch (error) {
    if (!timeout.aborted || request.signal.aborted || error !== signal.reason) throw error;
    throw musterError('clone_failed', `${url.url} did not answer within ${timeoutMs / 1000} s.`);
  }
}

/** The same with the access at hand. */
export async function headOf(context: GitContext, remote: Remote, signal: AbortSignal): Promise<string> {
  const answer = await context.run(['ls-remote', '--quiet', '--', remote.url, 'HEAD'], { env: remote.env, signal });
  const commit = commitOfHead(answer);
  if (commit === null) throw musterError('commit_not_found', `${remote.url} has no commit on its default branch.`);
  return commit;
}
