import type { Caller } from '../../domain/access/roles.ts';
import { endOfSignIn, SIGN_IN_USE_GRAIN_MS } from '../../domain/access/sign-in.ts';
import { tokenKindOf } from '../../domain/access/token-format.ts';
import { musterError } from '../../domain/errors.ts';
import { findSignIn, touchSignIn } from '../../store/access/sign-ins.ts';
import type { AuthenticateDependencies } from './authenticate.ts';
import { hashToken, isHashOf } from './token-secret.ts';

/**
 * Returns who speaks with this value of a cookie, with the rights that the token has now. Each call asks the database, so that a sign-out or a
 * revoked token counts at once in every process.
 * Throws `unauthenticated` for a sign-in that is unknown or over.
 */
export async function authenticateSignIn(
  { db, clock, onNoteFailed }: Omit<AuthenticateDependencies, 'issuer'>,
  secret: string,
): Promise<Caller> {
  const row = tokenKindOf(secret) === 'sign-in' ? await findSignIn(db, hashToken(secret)) : undefined;
  if (row === undefined || !isHashOf(row.hash, secret) || row.ended_at !== null || row.revoked_at !== null)
    throw over();
  const now = clock();
  const times = { createdAt: row.created_at, tokenEndsAt: row.expires_at };
  if (endOfSignIn({ ...times, lastUsedAt: row.last_used_at }) <= now) throw over();
  const stale = new Date(now.getTime() - SIGN_IN_USE_GRAIN_MS);
  if (row.last_used_at < stale) {
    // A note that is lost is made by the next request.
    touchSignIn(db, row.id, now, stale).catch((error) => onNoteFailed?.(error));
  }
  return { actor: row.actor, role: row.role, component: null, expiresAt: endOfSignIn({ ...times, lastUsedAt: now }) };
}

function over() {
  return musterError('unauthenticated', 'Your sign-in is over: sign in again');
}
