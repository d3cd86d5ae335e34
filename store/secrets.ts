/** Secret values in a table, encrypted before they get there: the stand-in for Secrets of a cluster. */
import type { Kysely } from 'kysely';
import type { Database } from './tables.ts';

/** Encrypts a value so that it opens only in its own place (`context`). */
export interface SecretCipher {
  encrypt(plaintext: string, context: string): Buffer;
  /** Throws `secret_unreadable` when the key or the place is another one. */
  decrypt(ciphertext: Buffer, context: string): string;
}

/** The store of secrets over table `secrets`. */
export function createSecretStore(db: Kysely<Database>, cipher: SecretCipher) {
  const sealed = (name: string, key: string, value: string) => ({
    name,
    key,
    ciphertext: cipher.encrypt(value, place(name, key)),
    updated_at: new Date(),
  });
  return {
    async get(name: string): Promise<Record<string, string> | null> {
      const rows = await db.selectFrom('secrets').select(['key', 'ciphertext']).where('name', '=', name).execute();
      if (rows.length === 0) return null;
      return Object.fromEntries(rows.map((row) => [row.key, cipher.decrypt(row.ciphertext, place(name, row.key))]));
    },
    async put(name: string, key: string, value: string): Promise<void> {
      const row = sealed(name, key, value);
      await db
        .insertInto('secrets')
        .values(row)
        .onConflict((conflict) =>
          conflict.columns(['name', 'key']).doUpdateSet({ ciphertext: row.ciphertext, updated_at: row.updated_at }),
        )
        .execute();
    },
    async putAll(name: string, values: Record<string, string>): Promise<void> {
      const rows = Object.entries(values).map(([key, value]) => sealed(name, key, value));
      await db.transaction().execute(async (trx) => {
        await trx.deleteFrom('secrets').where('name', '=', name).execute();
        if (rows.length > 0) await trx.insertInto('secrets').values(rows).execute();
      });
    },
    async delete(name: string): Promise<void> {
      await db.deleteFrom('secrets').where('name', '=', name).execute();
    },
    async list(): Promise<{ name: string; keys: string[] }[]> {
      const rows = await db.selectFrom('secrets').select(['name', 'key']).orderBy('name').orderBy('key').execute();
      const names = Map.groupBy(rows, (row) => row.name);
      return [...names].map(([name, keys]) => ({ name, keys: keys.map((row) => row.key) }));
    },
  };
}

function place(name: string, key: string): string {
  return `${name}/${key}`;
}
