/** What is told of credentials that do not go along with a clone, and how an administrator changes that. */

import type { ErrorCode } from '../errors.ts';
import { VCS_SECRET } from '../secrets/credentials.ts';
import { someOf } from '../some-of.ts';
import type { RepositoryUrl } from './repository-url.ts';
import { type CredentialsVerdict, entryOf } from './vcs-hosts.ts';

/** Why credentials that there are do not go along; told when the server asks for them. */
export interface Withheld {
  code: ErrorCode;
  detail: string;
}

/** Half of a pair is as good as none. */
export function incomplete(secretName: string, lacks: string, source: string | null): Withheld {
  const fix =
    source === null
      ? `\`./muster secret set ${secretName} vcs_username=@FILE vcs_password=@FILE\``
      : `change the credentials of source ${source}`;
  return { code: 'repository_auth_failed', detail: `Secret ${secretName} is not used: ${lacks}; ${fix}` };
}

/** The sentence for a host that the common credentials do not go to. */
export function notSent(url: RepositoryUrl, verdict: Exclude<CredentialsVerdict, 'send'>): Withheld {
  const why =
    verdict === 'not_encrypted'
      ? 'over plain http they go to this machine alone: use https, or a source with credentials of its own'
      : `an administrator has not named this host: add it with \`./muster secret set ${VCS_SECRET} vcs_hosts=${entryOf(url)}\` (several with commas), or make a source`;
  return { code: 'credentials_withheld', detail: `${VCS_SECRET} is not sent to ${entryOf(url)}: ${why}` };
}

/** What an administrator is told while hosts of stored addresses are named nowhere; null when there are none. */
export function namingNotice(hosts: readonly string[]): string | null {
  if (hosts.length === 0) return null;
  const command = `./muster secret set ${VCS_SECRET} vcs_hosts=${hosts.join(',')}`;
  const fix = `keep in this list the hosts that may have them: \`${command}\``;
  return `${VCS_SECRET} go to named hosts only, and these hosts of stored addresses are not named: ${someOf(hosts)}; ${fix}`;
}
