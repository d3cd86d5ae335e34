/** Whether the key of the secrets fits the database beside it: said before anything begins that would only fail later. */
import { statSync } from 'node:fs';
import pg from 'pg';
import { isMusterError } from '../../domain/errors.ts';
import { openSecretCipher } from '../../drivers/secrets/secret-cipher.ts';
import { StackError } from './stack-error.ts';

/** So many values are tried: one alone may be damaged. */
const SAMPLE = 50;

/**
 * Looks at the key's file and at the values that it should open; writes nothing.
 * @param url of the database, which need not have any table yet
 * @throws {StackError} that says what is wrong with the key
 */
export async function checkSecretKey(keyFile: string, url: string): Promise<void> {
  const cipher = expected(() => openSecretCipher(keyFile, { make: false }));
  const values = await sample(url);
  if (values.length === 0) return;
  const restore = `Put the right file back, or restore a backup into an empty data directory: ./muster restore FILE`;
  if (statSync(keyFile, { throwIfNoEntry: false }) === undefined) {
    throw new StackError(`${keyFile} is missing, and the database holds secrets that no other key opens. ${restore}`);
  }
  const opens = values.some(({ name, key, ciphertext }) => {
    try {
      cipher.decrypt(ciphertext, `${name}/${key}`);
      return true;
    } catch {
      return false;
    }
  });
  if (!opens)
    throw new StackError(`${keyFile} is not the key of the secrets in the database: it opens none. ${restore}`);
}

function expected<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (isMusterError(error)) throw new StackError(error.message);
    throw error;
  }
}

async function sample(url: string): Promise<{ name: string; key: string; ciphertext: Buffer }[]> {
  const client = new pg.Client({ connectionString: url, application_name: 'muster-stack' });
  await client.connect();
  try {
    const there = await client.query<{ there: boolean }>(`select to_regclass('public.secrets') is not null as there`);
    if (!there.rows[0]?.there) return [];
    return (await client.query(`select name, key, ciphertext from secrets limit ${SAMPLE}`)).rows;
  } finally {
    await client.end();
  }
}
