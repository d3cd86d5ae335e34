import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { changeSecretKey, ensureSecretKey } from '../../control/secrets/secret-key.ts';
import { dropOldKey, makeNextKey, switchKeys } from '../../drivers/secrets/key-ring.ts';
import { openSecretCipher } from '../../drivers/secrets/secret-cipher.ts';
import { finishRotation, rotateKey } from '../../store/secrets/secret-keys.ts';
import { createSecretStore } from '../../store/secrets/secrets.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { ROOT } from '../support/source-tree.ts';

let database: TestDatabase;
let dir: string;
let file: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-secret-key-'));
  file = join(dir, 'secret.key');
  await database.db.deleteFrom('secrets').execute();
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const COUNT = 40;
const cipher = (make = true) => openSecretCipher(file, { make });

async function fill(): Promise<Buffer> {
  const store = createSecretStore(database.db, cipher(), () => new Date());
  for (let index = 0; index < COUNT; index += 1) await store.put(`s${index}`, 'value', `text ${index}`);
  return readFileSync(file);
}

/** How many values a key opens. */
async function opensWith(key: Buffer): Promise<number> {
  const other = join(dir, 'other.key');
  writeFileSync(other, key);
  const opener = openSecretCipher(other);
  const rows = await database.db.selectFrom('secrets').selectAll().execute();
  return rows.filter((row) => {
    try {
      return opener.decrypt(row.ciphertext, `${row.name}/${row.key}`) !== '';
    } catch {
      return false;
    }
  }).length;
}

async function expectAllReadable(): Promise<void> {
  const store = createSecretStore(database.db, cipher(false), () => new Date());
  for (let index = 0; index < COUNT; index += 1)
    expect(await store.get(`s${index}`)).toEqual({ value: `text ${index}` });
}

describe('a change of the key', () => {
  test('leaves no value of the old key, keeps all readable, and forgets that key', async () => {
    const before = await fill();
    expect(await changeSecretKey(database.db, cipher())).toBe(COUNT);
    expect(readFileSync(file).equals(before)).toBe(false);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(dir)).toEqual(['secret.key']);
    expect(await opensWith(before)).toBe(0);
    expect(await opensWith(readFileSync(file))).toBe(COUNT);
    await expectAllReadable();
  });

  test('is seen by a process that has the old key in memory, for reading and for writing', async () => {
    await fill();
    const running = createSecretStore(database.db, cipher(), () => new Date());
    await running.get('s1');
    await changeSecretKey(database.db, cipher());
    expect(await running.get('s1')).toEqual({ value: 'text 1' });
    await running.put('late', 'value', 'written after');
    expect(await opensWith(readFileSync(file))).toBe(COUNT + 1);
  });

  test('loses no value that is written meanwhile', async () => {
    const before = await fill();
    const writer = createSecretStore(database.db, cipher(), () => new Date());
    let done = false;
    const writing = (async () => {
      let count = 0;
      for (; !done; count += 1) await writer.put(`w${count}`, 'value', `text ${count}`);
      return count;
    })();
    for (let round = 0; round < 3; round += 1) await changeSecretKey(database.db, cipher());
    done = true;
    const written = await writing;
    expect(written).toBeGreaterThan(0);
    expect(await opensWith(before)).toBe(0);
    expect(await opensWith(readFileSync(file))).toBe(COUNT + written);
  });

  test.each([
    ['after the next key was made', async () => makeNextKey(file)],
    [
      'after the values were renewed',
      async () => {
        makeNextKey(file);
        const { rotation } = cipher();
        const stopped = {
          ...rotation,
          switch: () => {
            throw new Error('killed');
          },
        };
        await expect(rotateKey(database.db, stopped)).rejects.toThrow('killed');
      },
    ],
    [
      'in the middle of the switch',
      async () => {
        makeNextKey(file);
        writeFileSync(`${file}.old`, readFileSync(file));
      },
    ],
    [
      'after the switch, with values of both keys',
      async () => {
        makeNextKey(file);
        switchKeys(file);
      },
    ],
    [
      'before the old key was forgotten',
      async () => {
        const { rotation } = cipher();
        const stopped = {
          ...rotation,
          finish: () => {
            throw new Error('killed');
          },
        };
        await expect(rotateKey(database.db, stopped)).rejects.toThrow('killed');
      },
    ],
  ])('that was broken off %s leaves all readable, and the next start finishes it', async (_moment, breakOff) => {
    const before = await fill();
    await breakOff();
    await expectAllReadable();
    await ensureSecretKey(database.db, cipher(false), file);
    expect(readdirSync(dir).filter((name) => name !== 'other.key')).toEqual(['secret.key']);
    expect(await opensWith(before)).toBe(0);
    await expectAllReadable();
    expect(await finishRotation(database.db, cipher().rotation)).toBe(false);
  });

  test('survives kill -9 at any moment', async () => {
    await fill();
    const code = `
      const { openSecretCipher } = await import(${JSON.stringify(join(ROOT, 'drivers/secrets/secret-cipher.ts'))});
      const { openDatabase } = await import(${JSON.stringify(join(ROOT, 'store/connection/database.ts'))});
      const { rotateKey } = await import(${JSON.stringify(join(ROOT, 'store/secrets/secret-keys.ts'))});
      const db = openDatabase({ url: process.argv[1], name: 'rotation' });
      process.stdout.write('ready');
      for (;;) await rotateKey(db, openSecretCipher(process.argv[2]).rotation);
    `;
    for (const wait of [0, 3, 9, 20, 35, 60]) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', code, database.url, file], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(child.stdout, 'data');
      await new Promise((resolve) => setTimeout(resolve, wait));
      child.kill('SIGKILL');
      await once(child, 'close');
      await expectAllReadable();
    }
    await ensureSecretKey(database.db, cipher(false), file);
    expect(await opensWith(readFileSync(file))).toBe(COUNT);
    dropOldKey(file);
  }, 300_000);
});

describe('the key at a start', () => {
  test('is made where nothing was encrypted yet, and not before', async () => {
    const opened = cipher(false);
    expect(existsSync(file)).toBe(false);
    await ensureSecretKey(database.db, opened, file);
    expect(readFileSync(file)).toHaveLength(32);
  });

  test('that is missing beside secrets is an error, and no new one is made', async () => {
    await fill();
    await rm(file);
    await expect(ensureSecretKey(database.db, cipher(false), file)).rejects.toThrow(/is missing.*muster restore FILE/);
    expect(readdirSync(dir)).toEqual([]);
  });

  test('of another installation is an error', async () => {
    await fill();
    writeFileSync(file, Buffer.alloc(32, 7));
    await expect(ensureSecretKey(database.db, cipher(false), file)).rejects.toThrow(/is not the key of the secrets/);
    expect(readFileSync(file)).toEqual(Buffer.alloc(32, 7));
  });

  test('reads what a former release has written, and writes what one reads', async () => {
    await fill();
    const key = readFileSync(file);
    const { createCipheriv, createDecipheriv } = await import('node:crypto');
    const nonce = Buffer.alloc(12, 3);
    const seal = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from('former/key'));
    const body = Buffer.concat([seal.update('word', 'utf8'), seal.final()]);
    expect(cipher().decrypt(Buffer.concat([nonce, seal.getAuthTag(), body]), 'former/key')).toBe('word');
    const now = cipher().encrypt('word', 'now/key');
    const open = createDecipheriv('aes-256-gcm', key, now.subarray(0, 12)).setAAD(Buffer.from('now/key'));
    open.setAuthTag(now.subarray(12, 28));
    expect(open.update(now.subarray(28), undefined, 'utf8') + open.final('utf8')).toBe('word');
  });
});
