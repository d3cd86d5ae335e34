import type { FastifyRequest } from 'fastify';
import { type CookieRule, cookieRule, cookieValue } from '../../domain/access/sign-in.ts';
import type { Db } from '../../store/connection/database.ts';
import { readInstallationId } from '../../store/connection/installation.ts';

/** The cookie of sign-ins of this installation. */
export interface SignInCookie {
  rule(): Promise<CookieRule>;
  /** Returns what the cookie of a request holds; null where there is none. */
  read(request: Pick<FastifyRequest, 'headers'>): Promise<string | null>;
}

/** Most requests have no cookie: the installation's id is read when the first comes, and once. */
export function signInCookie(db: Db, publicUrl: string): SignInCookie {
  let known: CookieRule | undefined;
  const rule = async () => (known ??= cookieRule(publicUrl, await readInstallationId(db)));
  return {
    rule,
    read: async ({ headers }) =>
      headers.cookie === undefined ? null : cookieValue(headers.cookie, (await rule()).name),
  };
}
