import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openSecretCipher } from '../../drivers/secrets/secret-cipher.ts';

const DRIVER = join(import.meta.dirname, '../../drivers/secrets/secret-cipher.ts');

test('processes that start at once on a new data directory share one key', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'muster-key-'));
  const file = join(dir, 'data', 'secret.key');
  // Each waits for a word, so that all make the key at the same moment.
  const code = `
    const { openSecretCipher } = await import(${JSON.stringify(DRIVER)});
    process.stdout.write('ready\\n');
    process.stdin.once('data', () => {
      process.stdout.write(openSecretCipher(${JSON.stringify(file)}).encrypt('word', 'a/b').toString('base64'));
      process.exit(0);
    });
  `;
  const children = Array.from({ length: 3 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  try {
    await Promise.all(children.map((child) => once(child.stdout, 'data')));
    const answers = children.map(async (child) => {
      const pieces: string[] = [];
      child.stdout.on('data', (piece) => pieces.push(String(piece)));
      await once(child, 'close');
      return Buffer.from(pieces.join(''), 'base64');
    });
    for (const child of children) child.stdin.write('go\n');
    const cipher = openSecretCipher(file);
    for (const sealed of await Promise.all(answers)) expect(cipher.decrypt(sealed, 'a/b')).toBe('word');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(dir, 'data'))).toEqual(['secret.key']);
  } finally {
    for (const child of children) child.kill();
    await rm(dir, { recursive: true, force: true });
  }
});
