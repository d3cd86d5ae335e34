import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { musterError } from '../../domain/errors.ts';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts values so that each opens only with this key and in its own place (`context`). */
export interface SecretCipher {
  encrypt(plaintext: string, context: string): Buffer;
  /** Throws `secret_unreadable` when key or place is another one, or the data was changed. */
  decrypt(ciphertext: Buffer, context: string): string;
}

/** AES-256-GCM with the key of `keyFile`, which is made (0600, whole or not at all) when it is not there. */
export function openSecretCipher(keyFile: string): SecretCipher {
  const key = readKey(keyFile);
  return {
    encrypt: (plaintext, context) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]);
    },
    decrypt: (ciphertext, context) => {
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, ciphertext.subarray(0, NONCE_BYTES), {
          authTagLength: TAG_BYTES,
        })
          .setAAD(Buffer.from(context))
          .setAuthTag(ciphertext.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
        return (
          decipher.update(ciphertext.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
        );
      } catch {
        throw musterError(
          'secret_unreadable',
          `Secret ${context} cannot be read with the key ${keyFile}: restore the key it was written with, or set it again`,
        );
      }
    },
  };
}

function readKey(keyFile: string): Buffer {
  const found = readIfThere(keyFile);
  const key = found ?? makeKey(keyFile);
  if (key.length !== KEY_BYTES) {
    throw musterError(
      'secret_unreadable',
      `The key file ${keyFile} must have ${KEY_BYTES} bytes, it has ${key.length}`,
    );
  }
  return key;
}

function readIfThere(keyFile: string): Buffer | null {
  try {
    return readFileSync(keyFile);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Two processes may start at once: the first to link its key wins, and both use that. */
function makeKey(keyFile: string): Buffer {
  mkdirSync(dirname(keyFile), { recursive: true, mode: 0o700 });
  const temporary = `${keyFile}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(temporary, randomBytes(KEY_BYTES), { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(temporary, keyFile);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(temporary);
  }
  return readFileSync(keyFile);
}
