/** Locks around the key of the secrets. */
import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';

/** Key of the advisory lock of those who encrypt: shared for who writes or saves secrets, exclusive for each step of a change of the key. */
export const KEY_LOCK = 7_414_003;
/** Key of the advisory lock under which one process alone changes the key. */
export const ROTATION_LOCK = 7_414_004;

/** Keeps the key that writes from being changed until the transaction ends. Taken before any row that a change of the key writes. */
export async function holdKey(trx: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${KEY_LOCK})`.execute(trx);
}
