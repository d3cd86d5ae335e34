/** Sign-ins of browsers. The cookie's value is known by its hash alone. */
import type { Role } from '../../domain/access/roles.ts';
import type { Db } from '../connection/database.ts';

export interface NewSignIn {
  id: string;
  hash: Buffer;
  token_id: string;
  actor: string;
  created_at: Date;
}

/** Inserts a sign-in, used now. */
export async function insertSignIn(db: Db, signIn: NewSignIn): Promise<void> {
  await db
    .insertInto('sign_ins')
    .values({ ...signIn, last_used_at: signIn.created_at, ended_at: null })
    .execute();
}

/** A sign-in with what its token says. */
export interface SignInRow {
  id: string;
  hash: Buffer;
  actor: string;
  created_at: Date;
  last_used_at: Date;
  ended_at: Date | null;
  role: Role;
  expires_at: Date | null;
  revoked_at: Date | null;
}

/** Returns the sign-in of this hash, also one that is over. */
export async function findSignIn(db: Db, hash: Buffer): Promise<SignInRow | undefined> {
  return db
    .selectFrom('sign_ins')
    .innerJoin('tokens', 'tokens.id', 'sign_ins.token_id')
    .select(['sign_ins.id', 'sign_ins.hash', 'sign_ins.actor', 'sign_ins.created_at', 'sign_ins.last_used_at'])
    .select(['sign_ins.ended_at', 'tokens.role', 'tokens.expires_at', 'tokens.revoked_at'])
    .where('sign_ins.hash', '=', hash)
    .executeTakeFirst();
}

/** Notes that the sign-in was used, unless that was noted since `before`. */
export async function touchSignIn(db: Db, id: string, now: Date, before: Date): Promise<void> {
  await db
    .updateTable('sign_ins')
    .set({ last_used_at: now })
    .where('id', '=', id)
    .where('last_used_at', '<', before)
    .execute();
}

/** Ends the sign-in of this id, once. */
export async function endSignIn(db: Db, id: string, now: Date): Promise<void> {
  await db.updateTable('sign_ins').set({ ended_at: now }).where('id', '=', id).where('ended_at', 'is', null).execute();
}

/** Forgets sign-ins that were used last before this time. */
export async function forgetSignIns(db: Db, before: Date): Promise<void> {
  await db.deleteFrom('sign_ins').where('last_used_at', '<', before).execute();
}
