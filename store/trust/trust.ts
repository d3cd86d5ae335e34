/** Public keys of certificate authorities: the one that signs now, and those whose certificates may still be valid. */
import { type Selectable, sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import type { TrustAuthoritiesTable } from './tables.ts';

export type TrustAuthorityRow = Selectable<TrustAuthoritiesTable>;

/** Key of the advisory lock under which authorities and certificates are made. */
const TRUST_LOCK = 7_414_001;

/** Runs `work` while no other process makes an authority or a certificate. Holds one connection meanwhile. */
export function withTrustLock<T>(db: Db, work: () => Promise<T>): Promise<T> {
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${TRUST_LOCK})`.execute(trx);
    return work();
  });
}

/** All authorities, the one that signs now first, then the newest. */
export function listAuthorities(db: Db): Promise<TrustAuthorityRow[]> {
  return db
    .selectFrom('trust_authorities')
    .selectAll()
    .orderBy(sql`replaced_at is not null`)
    .orderBy('since', 'desc')
    .orderBy('public_key')
    .execute();
}

/** Line of the key that signs now, or null before there is one. */
export async function findAuthority(db: Db): Promise<string | null> {
  const row = await db
    .selectFrom('trust_authorities')
    .select('public_key')
    .where('replaced_at', 'is', null)
    .executeTakeFirst();
  return row?.public_key ?? null;
}

/** Makes this the authority that signs now; the one before stays, as a former one. */
export async function recordAuthority(db: Db, publicKey: string, now: Date): Promise<void> {
  if ((await findAuthority(db)) === publicKey) return;
  await db.transaction().execute(async (trx) => {
    await trx
      .updateTable('trust_authorities')
      .set({ replaced_at: now })
      .where('replaced_at', 'is', null)
      .where('public_key', '<>', publicKey)
      .execute();
    await trx
      .insertInto('trust_authorities')
      .values({ public_key: publicKey, since: now, replaced_at: null })
      .onConflict((conflict) => conflict.column('public_key').doUpdateSet({ since: now, replaced_at: null }))
      .execute();
  });
}

/** Removes authorities that were replaced before then. */
export async function removeFormerAuthorities(db: Db, before: Date): Promise<void> {
  await db.deleteFrom('trust_authorities').where('replaced_at', '<', before).execute();
}
