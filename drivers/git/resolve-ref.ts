import { commitOfRef, isBranchOrTagName, looksLikeCommitId, refsToAsk } from '../../domain/configurations/git-ref.ts';
import { parseRepositoryUrl } from '../../domain/configurations/repository-url.ts';
import { musterError } from '../../domain/errors.ts';
import { type GitAccess, withAccess } from './git-access.ts';
import type { GitContext } from './git-context.ts';
import type { Remote } from './mirror.ts';
import { translated } from './translated.ts';

export interface ResolveRequest extends GitAccess {
  url: string;
  /** Name of the source record that the layer names, `null` without one. */
  sourceName: string | null;
  /** Branch, tag, or 7 to 40 digits of a commit id. */
  ref: string;
  signal: AbortSignal;
  /** For all of it together. Default 30,000 ms. */
  timeoutMs?: number;
}

/**
 * The full commit id that `ref` means on the remote: the branch of this name, else the tag (what it points at), else the
 * commit whose id begins so. Throws `branch_not_found` when there is none or several, `clone_failed` when the remote does not
 * answer in time (cfs-flows 2.5, 2.10).
 */
export async function resolveRef(context: GitContext, request: ResolveRequest): Promise<string> {
  const url = parseRepositoryUrl(request.url, context.allowedSchemes);
  const { ref, timeoutMs = 30_000 } = request;
  if (!isBranchOrTagName(ref)) {
    throw musterError('branch_not_found', `'${ref}' cannot be the name of a branch or tag.`, 'branch');
  }
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([request.signal, timeout]);
  try {
    return await translated(url, request, () =>
      withAccess(request, url, context, async (env) => {
        const remote = { url: url.url, env };
        const command = ['ls-remote', '--quiet', '--', remote.url, ...refsToAsk(ref)];
        const named = commitOfRef(await context.run(command, { env, signal }), ref);
        const commit =
          named ?? (looksLikeCommitId(ref) ? await commitByDigits(context, request, remote, signal) : null);
        if (commit !== null) return commit;
        throw musterError('branch_not_found', `${remote.url} has no branch, tag or single commit '${ref}'.`, 'branch');
      }),
    );
  } catch (error) {
    if (!timeout.aborted || request.signal.aborted || error !== signal.reason) throw error;
    throw musterError('clone_failed', `${url.url} did not answer within ${timeoutMs / 1000} s.`);
  }
}

async function commitByDigits(
  context: GitContext,
  request: ResolveRequest,
  remote: Remote,
  signal: AbortSignal,
): Promise<string | null> {
  const key = { url: request.url, sourceName: request.sourceName };
  return context.mirrors.use({ key, signal }, async (mirror) => {
    await mirror.refresh(remote);
    await mirror.touch();
    return mirror.commit(request.ref.toLowerCase());
  });
}
