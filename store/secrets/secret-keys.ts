/** Everything in the database that the key of the secrets has encrypted, and the change of that key. */
import { sql } from 'kysely';
import type { KeyRotation } from '../../domain/secrets/key-rotation.ts';
import { webhookAddressPlace } from '../../domain/secrets/sealed-places.ts';
import type { Db } from '../connection/database.ts';
import { KEY_LOCK, ROTATION_LOCK } from './key-lock.ts';

/** A column of ciphertexts. `place` is what each is bound to, made of the columns of `id`, which name a row. */
interface SealedColumn {
  table: string;
  column: string;
  id: readonly string[];
  place(row: Record<string, string>): string;
}

/** Every column that holds what the key has encrypted. A new one is one line here. */
const SEALED: readonly SealedColumn[] = [
  { table: 'secrets', column: 'ciphertext', id: ['name', 'key'], place: (row) => `${row.name}/${row.key}` },
  { table: 'webhooks', column: 'sealed_url', id: ['name'], place: (row) => webhookAddressPlace(row.name ?? '') },
];

/**
 * Changes the key: everything is encrypted anew with the next one, which then takes the place of the current one, and the former is
 * forgotten at last. Until then both are kept, so that it can be broken off at any moment; the next call goes on with it. Values can be
 * read and written all the time.
 * @returns how many values there are
 */
export async function rotateKey(db: Db, rotation: KeyRotation): Promise<number> {
  return alone(db, async () => {
    // One that was broken off after its keys had changed places is finished as it is.
    if (!rotation.isUnfinished()) rotation.prepare();
    return changeKey(db, rotation);
  });
}

/** Finishes a change that was broken off; answers whether there was one. */
export async function finishRotation(db: Db, rotation: KeyRotation): Promise<boolean> {
  if (!rotation.isUnfinished()) return false;
  return alone(db, async () => {
    if (!rotation.isUnfinished()) return false;
    await changeKey(db, rotation);
    return true;
  });
}

async function changeKey(db: Db, rotation: KeyRotation): Promise<number> {
  if (rotation.isPrepared()) await renewAll(db, rotation);
  const count = await renewAll(db, rotation, () => rotation.switch());
  rotation.finish();
  return count;
}

/** While it works no other process changes the key. */
function alone<T>(db: Db, work: () => Promise<T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    await sql`select pg_advisory_lock(${ROTATION_LOCK})`.execute(connection);
    try {
      return await work();
    } finally {
      await sql`select pg_advisory_unlock(${ROTATION_LOCK})`.execute(connection);
    }
  });
}

/** All values in one transaction, in which no other is written. */
async function renewAll(db: Db, rotation: KeyRotation, first?: () => void): Promise<number> {
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${KEY_LOCK})`.execute(trx);
    first?.();
    let count = 0;
    for (const sealed of SEALED) {
      const column = sql.ref(sealed.column);
      for (const row of await sealedRows(trx, sealed)) {
        count += 1;
        const renewed = rotation.renew(row.ciphertext, row.place);
        if (renewed === null) continue;
        const names = sealed.id.map((name) => sql`${sql.ref(name)} = ${row.id[name]}`);
        await sql`update ${sql.table(sealed.table)} set ${column} = ${renewed} where ${sql.join(names, sql` and `)}`.execute(
          trx,
        );
      }
    }
    return count;
  });
}

interface SealedRow {
  id: Record<string, string>;
  place: string;
  ciphertext: Buffer;
}

async function sealedRows(db: Db, { table, column, id, place }: SealedColumn): Promise<SealedRow[]> {
  const names = id.map((name) => sql.ref(name));
  const { rows } = await sql<Record<string, string> & { sealed: Buffer }>`
    select ${sql.join(names)}, ${sql.ref(column)} as sealed from ${sql.table(table)} where ${sql.ref(column)} is not null`.execute(
    db,
  );
  return rows.map(({ sealed, ...row }) => ({ id: row, place: place(row), ciphertext: sealed }));
}

/** Ciphertexts with their places, a few of each column: enough to see whether a key is theirs. */
export async function readSealedSample(db: Db, count: number): Promise<{ place: string; ciphertext: Buffer }[]> {
  const all = await Promise.all(SEALED.map((sealed) => sealedRows(db, sealed)));
  return all.flatMap((rows) => rows.slice(0, count).map(({ place, ciphertext }) => ({ place, ciphertext })));
}
