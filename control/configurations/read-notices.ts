import { namingNotice } from '../../domain/configurations/vcs-credentials.ts';
import { isMusterError } from '../../domain/errors.ts';
import { hostsNotNamed, type SecretUseDependencies } from './common-credentials.ts';

/** What an administrator has to decide, a sentence each. A store of secrets that does not answer is told elsewhere. */
export async function readNotices(deps: SecretUseDependencies): Promise<string[]> {
  try {
    const notice = namingNotice(await hostsNotNamed(deps));
    return notice === null ? [] : [notice];
  } catch (error) {
    if (isMusterError(error)) return [];
    throw error;
  }
}
