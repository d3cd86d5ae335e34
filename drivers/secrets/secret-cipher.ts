import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { musterError } from '../../domain/errors.ts';
import type { KeyRotation } from '../../domain/secrets/key-rotation.ts';
import type { SecretCipher } from '../../domain/secrets/ports.ts';
import {
  dropOldKey,
  KEY_ID_BYTES,
  type Key,
  type KeyRing,
  makeKey,
  makeNextKey,
  openKeyRing,
  switchKeys,
} from './key-ring.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A cipher whose keys are in a file. */
export interface FileCipher extends SecretCipher {
  /** Whether there is a key that writes. */
  hasKey(): boolean;
  /** Makes the first key (0600, whole or not at all); one that is there stays. */
  makeKey(): void;
  rotation: KeyRotation;
}

/**
 * AES-256-GCM with the key in `keyFile`. The first bytes of each nonce name the key, so that a ciphertext is known by its key, and an
 * older release reads it too. The file is looked at each time: another process may have changed the key.
 * @param make whether a key is made at once when there is none
 */
export function openSecretCipher(keyFile: string, { make = true }: { make?: boolean } = {}): FileCipher {
  const ring = openKeyRing(keyFile);
  if (make && ring().current === null) makeKey(keyFile);
  ring();
  const writing = ({ current }: KeyRing): Key => {
    if (current !== null) return current;
    throw musterError('secret_unreadable', `The key of the secrets is missing: there is no ${keyFile}`);
  };
  const open = (ciphertext: Buffer, context: string): { text: string; key: Key } => {
    const keys = ring();
    const all = [keys.current, keys.next, keys.old].filter((key) => key !== null);
    const named = (key: Key) => key.id.equals(ciphertext.subarray(0, KEY_ID_BYTES));
    // What was written before ciphertexts named their key may be of any.
    for (const key of [...all.filter(named), ...all.filter((each) => !named(each))]) {
      const text = unseal(key, ciphertext, context);
      if (text !== null) return { text, key };
    }
    writing(keys);
    throw musterError(
      'secret_unreadable',
      `Secret ${context} cannot be read with the key ${keyFile}: restore the key it was written with, or set it again`,
    );
  };
  return {
    hasKey: () => ring().current !== null,
    makeKey: () => makeKey(keyFile),
    encrypt: (plaintext, context) => seal(writing(ring()), plaintext, context),
    decrypt: (ciphertext, context) => open(ciphertext, context).text,
    rotation: {
      isUnfinished: () => ring().next !== null || ring().old !== null,
      isPrepared: () => ring().next !== null,
      prepare: () => makeNextKey(keyFile),
      renew: (ciphertext, context) => {
        const { next, current } = ring();
        const target = next ?? current ?? writing(ring());
        const { text, key } = open(ciphertext, context);
        const isNamed = target.id.equals(ciphertext.subarray(0, KEY_ID_BYTES));
        return key === target && isNamed ? null : seal(target, text, context);
      },
      switch: () => switchKeys(keyFile),
      finish: () => dropOldKey(keyFile),
    },
  };
}

function seal({ id, bytes }: Key, plaintext: string, context: string): Buffer {
  const nonce = Buffer.concat([id, randomBytes(NONCE_BYTES - KEY_ID_BYTES)]);
  const cipher = createCipheriv('aes-256-gcm', bytes, nonce).setAAD(Buffer.from(context));
  const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

function unseal({ bytes }: Key, ciphertext: Buffer, context: string): string | null {
  try {
    const decipher = createDecipheriv('aes-256-gcm', bytes, ciphertext.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
      .setAAD(Buffer.from(context))
      .setAuthTag(ciphertext.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return decipher.update(ciphertext.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return null;
  }
}
