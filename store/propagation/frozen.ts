/** Values that plans have frozen, once for each content. */
import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';

/** Stores values by their hashes; those that are there stay. */
export async function insertFrozen(trx: Db, values: ReadonlyMap<string, Record<string, unknown>>): Promise<void> {
  const rows = [...values].map(([hash, value]) => ({ hash, value: JSON.stringify(value) }));
  // In one order, so that two plans that freeze the same values do not wait for one another.
  rows.sort((a, b) => (a.hash < b.hash ? -1 : 1));
  for (let at = 0; at < rows.length; at += 500) {
    const query = trx.insertInto('propagation_frozen').values(rows.slice(at, at + 500));
    await query.onConflict((conflict) => conflict.doNothing()).execute();
  }
}

/** Returns values by their hashes. */
export async function findFrozen(db: Db, hashes: readonly string[]): Promise<Map<string, Record<string, unknown>>> {
  const query = db.selectFrom('propagation_frozen').selectAll();
  const rows = await query.where('hash', '=', sql<string>`any(${[...new Set(hashes)]}::text[])`).execute();
  return new Map(rows.map(({ hash, value }) => [hash, value]));
}
