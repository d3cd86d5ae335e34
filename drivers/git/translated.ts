import { readGitFailure } from '../../domain/configurations/git-failure.ts';
import type { RepositoryUrl } from '../../domain/configurations/repository-url.ts';
import { musterError } from '../../domain/errors.ts';
import { maskSecrets } from '../../domain/runs/mask.ts';
import type { GitAccess } from './git-access.ts';
import { GitFailure } from './git-process.ts';

/** Runs `work`; what git says when it fails becomes the catalogue's error with the clean address and no secret. */
export async function translated<T>(url: RepositoryUrl, access: GitAccess, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    const { code, line } = readGitFailure(error.stderr);
    const secrets = [access.credentials?.password ?? '', url.password ?? ''];
    const { withheld } = access;
    if (code === 'repository_auth_failed' && withheld !== undefined) {
      throw musterError(withheld.code, maskSecrets(`${url.url}: ${line}. ${withheld.detail}`, secrets));
    }
    throw musterError(code, maskSecrets(`${url.url}: ${line}`, secrets));
  }
}
