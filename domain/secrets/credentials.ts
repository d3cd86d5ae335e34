/** Credentials that secrets hold. */

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
