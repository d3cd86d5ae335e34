/** How long a sign-in of a browser lasts, and the cookie that stands for it. */

const HOUR_MS = 3_600_000;
/** A sign-in that is not used for so long is over, ms. */
export const SIGN_IN_IDLE_MS = 12 * HOUR_MS;
/** The longest life of a sign-in, ms. */
export const SIGN_IN_LIFE_MS = 7 * 24 * HOUR_MS;
/** How fresh the noted last use of a sign-in is, ms. */
export const SIGN_IN_USE_GRAIN_MS = 60_000;

export interface SignInTimes {
  createdAt: Date;
  lastUsedAt: Date;
  /** End of the token that it was made with; null: none. */
  tokenEndsAt: Date | null;
}

/** Returns when a sign-in is over, unless it is used before: after 12 h without use, after 7 days, or with its token. */
export function endOfSignIn({ createdAt, lastUsedAt, tokenEndsAt }: SignInTimes): Date {
  const ends = [createdAt.getTime() + SIGN_IN_LIFE_MS, lastUsedAt.getTime() + SIGN_IN_IDLE_MS];
  return new Date(Math.min(...ends, tokenEndsAt?.getTime() ?? Number.POSITIVE_INFINITY));
}

/** What a browser keeps a sign-in as. */
export interface CookieRule {
  name: string;
  path: string;
  isSecure: boolean;
}

/**
 * Returns the cookie of an installation. Cookies ignore ports, so that its name carries the installation's id: two stacks may share a host.
 * @param publicUrl base of the API as browsers know it
 */
export function cookieRule(publicUrl: string, installation: string): CookieRule {
  const { protocol, pathname } = new URL(publicUrl);
  const path = pathname.endsWith('/') ? pathname : `${pathname}/`;
  const isSecure = protocol === 'https:';
  // Browsers take this prefix from secure origins alone, and for the whole host alone.
  const prefix = isSecure && path === '/' ? '__Host-' : '';
  return { name: `${prefix}muster-${installation}`, path, isSecure };
}

/** Returns the header `Set-Cookie` that makes a browser keep `secret` for `seconds`; 0 seconds make it forget. No script can read the cookie, and no other site send it. */
export function setCookie({ name, path, isSecure }: CookieRule, secret: string, seconds: number): string {
  const attributes = ['HttpOnly', 'SameSite=Strict', ...(isSecure ? ['Secure'] : [])];
  return [`${name}=${secret}`, `Path=${path}`, `Max-Age=${seconds}`, ...attributes].join('; ');
}

/** Returns the value of a cookie in the header `Cookie`, null where there is none of that name. */
export function cookieValue(header: string | undefined, name: string): string | null {
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return null;
}
