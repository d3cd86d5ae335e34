/** A key of bytes in the store of secrets, which all processes share. */
import { randomBytes } from 'node:crypto';
import type { Db } from '../../store/connection/database.ts';
import { withSetupLock } from '../../store/connection/setup-lock.ts';
import { SEAL_KEY_BYTES } from './sealed-bytes.ts';

const KEY = 'key';

/** Where the key is kept: the part of the store of secrets that it needs. */
export interface SealKeys {
  get(name: string): Promise<Record<string, string> | null>;
  put(name: string, key: string, value: string): Promise<void>;
}

export interface StoredKey {
  /** Returns the key; null where there is none. */
  find(): Promise<Buffer | null>;
  /** Returns the key, which is made when there is none. */
  findOrMake(): Promise<Buffer>;
}

/** Returns the key that the secret of this name holds. */
export function storedKey(db: Db, secrets: SealKeys, secret: string): StoredKey {
  const find = async (): Promise<Buffer | null> => {
    const key = Buffer.from((await secrets.get(secret))?.[KEY] ?? '', 'hex');
    return key.length === SEAL_KEY_BYTES ? key : null;
  };
  const make = () =>
    // What one process seals with a key that another replaces would be lost.
    withSetupLock(db, async () => {
      const found = await find();
      if (found !== null) return found;
      const key = randomBytes(SEAL_KEY_BYTES);
      await secrets.put(secret, KEY, key.toString('hex'));
      return key;
    });
  return { find, findOrMake: async () => (await find()) ?? (await make()) };
}
