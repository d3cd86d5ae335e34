/** Tokens of the API. Only what is not revoked is shown; revoked ones are known by their hash alone. */
import { type Selectable, sql } from 'kysely';
import type { Role } from '../../domain/access/roles.ts';
import type { Db } from '../connection/database.ts';
import type { TokensTable } from './tables.ts';

export type TokenRow = Omit<Selectable<TokensTable>, 'hash' | 'revoked_at'>;

const SHOWN = [
  'id',
  'name',
  'role',
  'component',
  'created_at',
  'actor',
  'expires_at',
  'last_used_at',
] as const satisfies readonly (keyof TokenRow)[];

export interface NewToken {
  id: string;
  hash: Buffer;
  name: string;
  role: Role;
  component: string | null;
  created_at: Date;
  actor: string | null;
  expires_at: Date | null;
}

/** Inserts a token; answers null when one of that name, or the same token, is there. */
export async function insertToken(db: Db, token: NewToken): Promise<TokenRow | null> {
  const row = await db
    .insertInto('tokens')
    .values(token)
    .onConflict((conflict) => conflict.doNothing())
    .returning(SHOWN)
    .executeTakeFirst();
  return row ?? null;
}

/** The token of this hash, revoked or not. One row of an index: every request asks for it. */
export async function findTokenByHash(db: Db, hash: Buffer): Promise<Selectable<TokensTable> | undefined> {
  return db.selectFrom('tokens').selectAll().where('hash', '=', hash).executeTakeFirst();
}

/** The token of this id or name. */
export async function findToken(db: Db, idOrName: string): Promise<TokenRow | undefined> {
  return db
    .selectFrom('tokens')
    .select(SHOWN)
    .where('revoked_at', 'is', null)
    .where((row) => row.or([row('name', '=', idOrName), row(sql<string>`id::text`, '=', idOrName.toLowerCase())]))
    .executeTakeFirst();
}

/** At most `limit` tokens after a name, by code point. */
export async function listTokens(db: Db, afterName: string, limit: number): Promise<TokenRow[]> {
  return db
    .selectFrom('tokens')
    .select(SHOWN)
    .where('revoked_at', 'is', null)
    .where('name', '>', afterName)
    .orderBy('name')
    .limit(limit)
    .execute();
}

/** Makes the token of this id worthless; answers whether it was worth something. */
export async function revokeToken(db: Db, id: string, now: Date): Promise<boolean> {
  const result = await db
    .updateTable('tokens')
    .set({ revoked_at: now })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Notes that the token was used, unless that was noted since `before`. */
export async function touchToken(db: Db, id: string, now: Date, before: Date): Promise<void> {
  await db
    .updateTable('tokens')
    .set({ last_used_at: now })
    .where('id', '=', id)
    .where((row) => row.or([row('last_used_at', 'is', null), row('last_used_at', '<', before)]))
    .execute();
}
