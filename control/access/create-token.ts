import { randomBytes, randomUUID } from 'node:crypto';
import type { Acting } from '../../domain/access/acting.ts';
import type { TokenCreate, TokenCreated } from '../../domain/access/schema.ts';
import { musterError } from '../../domain/errors.ts';
import { insertToken } from '../../store/access/tokens.ts';
import type { Db } from '../../store/connection/database.ts';
import { viewOfToken } from './read-tokens.ts';
import { hashToken, newToken } from './token-secret.ts';

export interface TokenDependencies {
  db: Db;
  clock(): Date;
}

/**
 * Makes a token and answers it, the only time that it is shown. Without a name it gets its role and random digits.
 * @throws `token_exists` when a token of that name is valid or expired, but not revoked
 */
export async function createToken(deps: TokenDependencies, by: Acting, wanted: TokenCreate): Promise<TokenCreated> {
  const token = newToken('api');
  const now = deps.clock();
  const name = wanted.name ?? `${wanted.role}-${randomBytes(4).toString('hex')}`;
  const row = await insertToken(deps.db, {
    id: randomUUID(),
    hash: hashToken(token),
    name,
    role: wanted.role,
    component: wanted.component ?? null,
    created_at: now,
    actor: by.actor,
    expires_at: wanted.expires_in === undefined ? null : new Date(now.getTime() + wanted.expires_in * 1000),
  });
  if (row === null) throw musterError('token_exists', `A token with the name ${name} already exists`);
  return { ...viewOfToken(row, now), token };
}
