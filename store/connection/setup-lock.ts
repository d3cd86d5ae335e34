import { sql } from 'kysely';
import type { Db } from './database.ts';

/** Key of the advisory lock under which a fresh installation is given what it needs. */
const SETUP_LOCK = 7_414_002;

/** Runs `work` while no other process sets the installation up. Holds one connection meanwhile. */
export function withSetupLock<T>(db: Db, work: () => Promise<T>): Promise<T> {
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${SETUP_LOCK})`.execute(trx);
    return work();
  });
}
