import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openConfigMaps } from '../../drivers/secrets/config-maps.ts';
import { openSecretCipher } from '../../drivers/secrets/secret-cipher.ts';
import { createMemorySecretStore } from '../support/fakes/memory-secret-store.ts';
import { secretStoreContract } from '../support/fakes/secret-store-contract.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-secrets-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

describe('secrets in memory', () => secretStoreContract(createMemorySecretStore));

describe('the cipher', () => {
  test('opens what it closed, also after a restart, and never closes twice alike', () => {
    const file = join(dir, 'restart', 'secret.key');
    const first = openSecretCipher(file);
    const sealed = first.encrypt('wörd\n', 'a/b');
    expect(openSecretCipher(file).decrypt(sealed, 'a/b')).toBe('wörd\n');
    expect(first.encrypt('wörd\n', 'a/b').equals(sealed)).toBe(false);
    expect(first.decrypt(first.encrypt('', 'a/b'), 'a/b')).toBe('');
  });

  test('keeps its key for the user alone', async () => {
    openSecretCipher(join(dir, 'private', 'secret.key'));
    expect((await stat(join(dir, 'private', 'secret.key'))).mode & 0o777).toBe(0o600);
    expect(await readdir(join(dir, 'private'))).toEqual(['secret.key']);
  });

  test.each(['another key', 'another place', 'a changed byte', 'a cut text'])(
    'refuses %s with a clear error',
    (what) => {
      const cipher = openSecretCipher(join(dir, 'one.key'));
      const other = openSecretCipher(join(dir, 'two.key'));
      const sealed = cipher.encrypt('word', 'a/b');
      if (what === 'a changed byte') sealed[sealed.length - 1] = (sealed.at(-1) ?? 0) ^ 1;
      const opener = what === 'another key' ? other : cipher;
      const text = what === 'a cut text' ? sealed.subarray(0, 20) : sealed;
      const open = (): string => opener.decrypt(text, what === 'another place' ? 'a/c' : 'a/b');
      expect(open).toThrow(expect.objectContaining({ code: 'secret_unreadable' }));
      expect(open).toThrow(/key/);
    },
  );

  test('refuses a key file of the wrong size instead of replacing it', async () => {
    await writeFile(join(dir, 'short.key'), 'short');
    expect(() => openSecretCipher(join(dir, 'short.key'))).toThrow(/32 bytes/);
  });
});

describe('ConfigMaps', () => {
  test('give values by key, and the first key in order', async () => {
    const maps = openConfigMaps(join(dir, 'maps'));
    await maps.put('services', 'ca', 'b.crt', '2');
    await maps.put('services', 'ca', 'a.crt', '1');
    await maps.put('services', 'ca', 'a.crt', 'one');
    expect(await maps.get('services', 'ca', 'b.crt')).toBe('2');
    expect(await maps.first('services', 'ca')).toBe('one');
    expect((await readdir(join(dir, 'maps', 'services', 'ca'))).sort()).toEqual(['a.crt', 'b.crt']);
  });

  test('never read a value that is only half written', async () => {
    const maps = openConfigMaps(join(dir, 'half'));
    await mkdir(join(dir, 'half', 'services', 'ca'), { recursive: true });
    await writeFile(join(dir, 'half', 'services', 'ca', '~left'), 'ha');
    await expect(maps.first('services', 'ca')).rejects.toMatchObject({ code: 'config_missing' });
    const values = Array.from({ length: 20 }, (_, index) => `${index}`.repeat(10_000));
    const writing = Promise.all(values.map((value) => maps.put('services', 'ca', 'k', value)));
    await maps.put('services', 'ca', 'k', values[0] ?? '');
    for (let round = 0; round < 50; round += 1) expect(values).toContain(await maps.get('services', 'ca', 'k'));
    await writing;
  });

  test('name the one that is missing', async () => {
    const maps = openConfigMaps(join(dir, 'maps'));
    const missing = { code: 'config_missing', detail: expect.stringContaining('cfs-none') };
    await expect(maps.get('services', 'cfs-none', 'ansible.cfg')).rejects.toMatchObject(missing);
    await expect(maps.first('services', 'cfs-none')).rejects.toMatchObject(missing);
  });

  test.each([
    ['..', 'a', 'k'],
    ['services', '../services', 'k'],
    ['services', '.', 'k'],
    ['services', 'Upper', 'k'],
    ['services', 'a/b', 'k'],
    ['services', 'a..b', 'k'],
    ['services', '-a', 'k'],
    ['services', 'a'.repeat(254), 'k'],
    ['services', '', 'k'],
    ['services', 'a', '..'],
    ['services', 'a', '.'],
    ['services', 'a', '../k'],
    ['services', 'a', ''],
    ['services', 'a', '~x'],
  ])('never leave their folder for %s/%s/%s', async (namespace, name, key) => {
    const maps = openConfigMaps(join(dir, 'hostile'));
    await expect(maps.get(namespace, name, key)).rejects.toMatchObject({ code: 'config_missing' });
    await expect(maps.put(namespace, name, key, 'x')).rejects.toMatchObject({ code: 'config_missing' });
  });
});
