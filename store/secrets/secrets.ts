/** Secret values in a table, encrypted before they get there: the stand-in for Secrets of a cluster. */
import { sql } from 'kysely';
import { isMusterError } from '../../domain/errors.ts';
import type { SecretCipher } from '../../domain/secrets/ports.ts';
import type { Db } from '../connection/database.ts';
import { holdKey } from './key-lock.ts';

/** Returns the store of secrets over table `secrets`. */
export function createSecretStore(db: Db, cipher: SecretCipher, clock: () => Date) {
  const sealed = (name: string, key: string, value: string, actor: string | null) => ({
    name,
    key,
    ciphertext: cipher.encrypt(value, place(name, key)),
    updated_at: clock(),
    actor,
  });
  return {
    async get(name: string): Promise<Record<string, string> | null> {
      const read = async () => {
        const rows = await db.selectFrom('secrets').select(['key', 'ciphertext']).where('name', '=', name).execute();
        if (rows.length === 0) return null;
        return Object.fromEntries(rows.map((row) => [row.key, cipher.decrypt(row.ciphertext, place(name, row.key))]));
      };
      // The key may have been changed between the two steps.
      return read().catch((error) => {
        if (isMusterError(error)) return read();
        throw error;
      });
    },
    async put(name: string, key: string, value: string, actor: string | null = null): Promise<void> {
      await db.transaction().execute(async (trx) => {
        await holdKey(trx);
        const row = sealed(name, key, value, actor);
        await trx
          .insertInto('secrets')
          .values(row)
          .onConflict((conflict) =>
            conflict
              .columns(['name', 'key'])
              .doUpdateSet({ ciphertext: row.ciphertext, updated_at: row.updated_at, actor }),
          )
          .execute();
      });
    },
    async putAll(name: string, values: Record<string, string>, actor: string | null = null): Promise<void> {
      // In one order, and over what another writer leaves at the same moment.
      const keys = Object.keys(values).sort();
      await db.transaction().execute(async (trx) => {
        await holdKey(trx);
        const rows = keys.map((key) => sealed(name, key, values[key] ?? '', actor));
        if (rows.length > 0) {
          await trx
            .insertInto('secrets')
            .values(rows)
            .onConflict((conflict) =>
              conflict.columns(['name', 'key']).doUpdateSet((eb) => ({
                ciphertext: eb.ref('excluded.ciphertext'),
                updated_at: eb.ref('excluded.updated_at'),
                actor: eb.ref('excluded.actor'),
              })),
            )
            .execute();
        }
        await trx
          .deleteFrom('secrets')
          .where('name', '=', name)
          .where(sql<boolean>`key <> all(${keys}::text[])`)
          .execute();
      });
    },
    async deleteKey(name: string, key: string): Promise<void> {
      await db.deleteFrom('secrets').where('name', '=', name).where('key', '=', key).execute();
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
