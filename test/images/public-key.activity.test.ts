import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readPublicKey } from '../../domain/images/public-key.ts';

test.each([
  ['ed25519', ''],
  ['rsa', '1024'],
  ['rsa', '3072'],
  ['ecdsa', '256'],
  ['ecdsa', '384'],
  ['ecdsa', '521'],
])('a public key of type %s %s is read as ssh-keygen makes it', (type, bits) => {
  const dir = mkdtempSync(join(tmpdir(), 'muster-keys-'));
  const file = join(dir, 'key');
  execFileSync('ssh-keygen', [
    '-q',
    '-t',
    type,
    ...(bits ? ['-b', bits] : []),
    '-N',
    '',
    '-C',
    'of a test',
    '-f',
    file,
  ]);
  const line = readFileSync(`${file}.pub`, 'utf8');
  rmSync(dir, { recursive: true });
  expect(readPublicKey(line)).toEqual({ line: line.trim() });
});
