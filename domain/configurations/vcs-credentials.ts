/** What is told of credentials that do not go along with a clone, and how an administrator changes that. */

import type { ErrorCode } from '../errors.ts';
import { someOf } from '../some-of.ts';
import type { RepositoryUrl } from './repository-url.ts';
import { type CredentialsVerdict, entryOf } from './vcs-hosts.ts';

/** The secret with the credentials for repositories without a source. */
export const VCS_SECRET = 'vcs-user-credentials';

/** Keys of secrets whose values are no secret themselves: they may stand on a command line and are not masked in output. */
export const PLAIN_KEYS: ReadonlySet<string> = new Set([
  'known_hosts',
  'public',
  'username',
  'vcs_username',
  'vcs_hosts',
]);

export interface Credentials {
  username: string;
  password: string;
}

/** Why credentials that there are do not go along; told when the server asks for them. */
export interface Withheld {
  code: ErrorCode;
  detail: string;
}

/**
 * User name and password out of a secret, or the key that is missing or cannot be used. Blanks around a value are no part
 * of it; git takes a value of a single line only.
 */
export function wholeCredentials(
  secret: Readonly<Record<string, string>>,
  keys: { username: string; password: string },
): Credentials | { lacks: string } {
  const username = secret[keys.username]?.trim();
  const password = secret[keys.password]?.trim();
  if (!username) return { lacks: `it has no ${keys.username}` };
  if (!password) return { lacks: `it has no ${keys.password}` };
  const broken = [
    [keys.username, username],
    [keys.password, password],
  ].find(([, value]) => /[\r\n]/.test(value ?? ''));
  return broken ? { lacks: `its ${broken[0]} has several lines` } : { username, password };
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
