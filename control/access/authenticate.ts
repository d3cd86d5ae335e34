import { looksLikeJwt } from '../../domain/access/bearer.ts';
import { type ClaimRules, callerOfClaims } from '../../domain/access/claims.ts';
import type { VerifyJwt } from '../../domain/access/ports.ts';
import type { Caller } from '../../domain/access/roles.ts';
import { tokenKindOf } from '../../domain/access/token-format.ts';
import { musterError } from '../../domain/errors.ts';
import { findTokenByHash, touchToken } from '../../store/access/tokens.ts';
import type { Db } from '../../store/connection/database.ts';
import { hashToken, isHashOf } from './token-secret.ts';

export interface AuthenticateDependencies {
  db: Db;
  /** Tokens of an outside issuer; undefined: there is none. */
  issuer: { verify: VerifyJwt; rules: ClaimRules } | undefined;
  clock(): Date;
  /** Told when the last use of a token could not be noted. */
  onNoteFailed?(error: unknown): void;
}

/** How fresh the noted last use of a token is, ms: a write for each request would cost more than it tells. */
const USE_GRAIN_MS = 10 * 60_000;

/**
 * Who speaks with this token. Each call asks the database, so that a revoked token is worth nothing at once in every process.
 * @throws `unauthenticated` for a token that is unknown, revoked, expired or not to be believed; `forbidden` for a user whose
 *   token gives no role; `issuer_unavailable`
 */
export async function authenticate(deps: AuthenticateDependencies, token: string): Promise<Caller> {
  if (tokenKindOf(token) === 'api') return callerOfToken(deps, token);
  if (deps.issuer === undefined || !looksLikeJwt(token)) throw refused('The token is not one of this API');
  const { verify, rules } = deps.issuer;
  const caller = callerOfClaims(await verify(token), rules);
  if ('refused' in caller) throw musterError('forbidden', caller.refused);
  return caller;
}

async function callerOfToken(deps: AuthenticateDependencies, token: string): Promise<Caller> {
  const row = await findTokenByHash(deps.db, hashToken(token));
  const now = deps.clock();
  if (row === undefined || row.revoked_at !== null || !isHashOf(row.hash, token)) {
    throw refused('The token is unknown or was revoked');
  }
  if (row.expires_at !== null && row.expires_at <= now) {
    throw refused(`The token '${row.name}' expired at ${row.expires_at.toISOString()}`);
  }
  const stale = new Date(now.getTime() - USE_GRAIN_MS);
  if (row.last_used_at === null || row.last_used_at < stale) {
    // Nobody waits for it: a note that is lost is made by the next request.
    touchToken(deps.db, row.id, now, stale).catch((error) => deps.onNoteFailed?.(error));
  }
  return { actor: `token/${row.name}`, role: row.role, component: row.component, expiresAt: row.expires_at };
}

function refused(detail: string) {
  return musterError('unauthenticated', detail);
}
