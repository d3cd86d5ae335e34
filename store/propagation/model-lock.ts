/** The order of writes to the model: what joins several resources writes alone, what changes one resource only keeps it away. */
import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';

const MODEL_LOCK = 7_414_040;

/** Until the transaction ends, nothing that joins several resources is written. Taken before any row. */
export async function holdModel(trx: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${sql.lit(MODEL_LOCK)})`.execute(trx);
}

/** Until the transaction ends, no other transaction writes to the model. Taken before any row. */
export async function lockModel(trx: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(MODEL_LOCK)})`.execute(trx);
}
