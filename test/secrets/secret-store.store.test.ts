import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type FileCipher, openSecretCipher } from '../../drivers/secrets/secret-cipher.ts';
import { createSecretStore } from '../../store/secrets/secrets.ts';
import { secretStoreContract } from '../support/fakes/secret-store-contract.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

let database: TestDatabase;
let dir: string;
let cipher: FileCipher;

beforeAll(async () => {
  database = await createTestDatabase();
  dir = await mkdtemp(join(tmpdir(), 'muster-secret-store-'));
  cipher = openSecretCipher(join(dir, 'secret.key'));
});
afterAll(async () => {
  await database.close();
  await rm(dir, { recursive: true, force: true });
});

describe('the table of secrets', () => {
  secretStoreContract(async () => {
    await database.db.deleteFrom('secrets').execute();
    return createSecretStore(database.db, cipher, () => new Date());
  });

  test('holds nothing that can be read without the key', async () => {
    const value = randomBytes(16).toString('hex');
    await createSecretStore(database.db, cipher, () => new Date()).putAll('vcs', { password: value });
    const rows = await database.db.selectFrom('secrets').selectAll().execute();
    expect(Buffer.concat(rows.map((row) => row.ciphertext)).includes(value)).toBe(false);
    const stranger = createSecretStore(database.db, openSecretCipher(join(dir, 'other.key')), () => new Date());
    await expect(stranger.get('vcs')).rejects.toMatchObject({ code: 'secret_unreadable' });
  });

  test('a value moved to another secret does not open there', async () => {
    const store = createSecretStore(database.db, cipher, () => new Date());
    await store.putAll('mine', { password: 'a' });
    await database.db.updateTable('secrets').set({ name: 'yours' }).where('name', '=', 'mine').execute();
    await expect(store.get('yours')).rejects.toMatchObject({ code: 'secret_unreadable' });
  });
});
