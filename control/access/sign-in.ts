import { randomUUID } from 'node:crypto';
import type { Caller } from '../../domain/access/roles.ts';
import { endOfSignIn, SIGN_IN_IDLE_MS } from '../../domain/access/sign-in.ts';
import { tokenKindOf } from '../../domain/access/token-format.ts';
import { musterError } from '../../domain/errors.ts';
import { endSignIn, findSignIn, forgetSignIns, insertSignIn } from '../../store/access/sign-ins.ts';
import { findTokenByHash } from '../../store/access/tokens.ts';
import type { Db } from '../../store/connection/database.ts';
import { attributeAs } from './attribute-writes.ts';
import { hashToken, newToken } from './token-secret.ts';

interface SignInDependencies {
  db: Db;
  clock(): Date;
}

/** What a browser keeps, shown once, and until when it is good. */
export interface SignedIn {
  secret: string;
  expiresAt: Date;
}

/**
 * Signs a browser in with a token that was let in as `caller`. What is stored is the hash of what the browser gets, never the token.
 * Throws `forbidden` for a token of role node, `unauthenticated` when the token has gone meanwhile.
 */
export async function signIn({ db, clock }: SignInDependencies, token: string, caller: Caller): Promise<SignedIn> {
  if (caller.role === 'node') throw musterError('forbidden', 'A token of the role node cannot sign in');
  const row = await findTokenByHash(db, hashToken(token));
  if (row === undefined) throw musterError('unauthenticated', 'The token is unknown or was revoked');
  const now = clock();
  await forgetSignIns(db, new Date(now.getTime() - SIGN_IN_IDLE_MS));
  const secret = newToken('sign-in');
  const { actor } = caller;
  await attributeAs(actor, () =>
    insertSignIn(db, { id: randomUUID(), hash: hashToken(secret), token_id: row.id, actor, created_at: now }),
  );
  return { secret, expiresAt: endOfSignIn({ createdAt: now, lastUsedAt: now, tokenEndsAt: row.expires_at }) };
}

/** Ends the sign-in that a cookie's value stands for. Returns whose it was; null when there is none, or it was over. */
export async function signOut({ db, clock }: SignInDependencies, secret: string): Promise<string | null> {
  if (tokenKindOf(secret) !== 'sign-in') return null;
  const row = await findSignIn(db, hashToken(secret));
  if (row === undefined || row.ended_at !== null) return null;
  await attributeAs(row.actor, () => endSignIn(db, row.id, clock()));
  return row.actor;
}
