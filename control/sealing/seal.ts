/** Sealed columns: values that a table keeps and only a process with the key can read. */
import { hkdfSync } from 'node:crypto';
import { musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import { openBytes, SEAL_KEY_BYTES, sealBytes } from './sealed-bytes.ts';
import { type SealKeys, storedKey } from './stored-key.ts';

/** `place`: where the value is kept; it opens nowhere else. */
export interface Seal {
  seal(bytes: Uint8Array, place: string): Promise<Buffer>;
  /** Throws `secret_unreadable` where key or place is another one, or something was changed. */
  open(sealed: Buffer, place: string): Promise<Buffer>;
}

export interface SealUse {
  /** Secret that holds the key. */
  secret: string;
  /** Word of what is sealed: each use has a key of its own, derived from the secret. */
  use: string;
}

/** Returns the seal of a use. Its secret is made when the first value is sealed. */
export function openSeal(db: Db, secrets: SealKeys, { secret, use }: SealUse): Seal {
  let known: Buffer | null = null;
  const stored = storedKey(db, secrets, secret);
  const derived = (key: Buffer) => Buffer.from(hkdfSync('sha256', key, '', `muster ${use}`, SEAL_KEY_BYTES));
  const keyOf = async (find: () => Promise<Buffer | null>): Promise<Buffer | null> => {
    if (known === null) {
      const key = await find();
      known = key === null ? null : derived(key);
    }
    return known;
  };
  return {
    async seal(bytes, place) {
      const key = await keyOf(stored.findOrMake);
      return sealBytes(key as Buffer, bytes, Buffer.from(place));
    },
    async open(sealed, place) {
      const key = await keyOf(stored.find);
      try {
        if (key !== null) return openBytes(key, sealed, Buffer.from(place));
      } catch {
        // Told below. The next look reads the key again, since it may be another one by then.
        known = null;
      }
      throw musterError('secret_unreadable', `The ${use} of ${place} cannot be read with the key in secret ${secret}`);
    },
  };
}
