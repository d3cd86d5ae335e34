/** What encrypts the addresses of webhooks. */
import { randomBytes } from 'node:crypto';
import { musterError } from '../../domain/errors.ts';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import { ADDRESS_KEY_SECRET } from '../../domain/secrets/secret-uses.ts';
import type { Db } from '../../store/connection/database.ts';
import { withSetupLock } from '../../store/connection/setup-lock.ts';
import { openBytes, SEAL_KEY_BYTES, sealBytes } from '../sealing/sealed-bytes.ts';

const KEY = 'key';

/** Each text opens in its own place alone. */
export interface AddressSeal {
  seal(text: string, place: string): Promise<Buffer>;
  /** Throws `secret_unreadable` when key or place is another one, or the data was changed. */
  open(sealed: Buffer, place: string): Promise<string>;
}

/** The key of the secrets as this lane needs it. */
export interface AddressCipher {
  encrypt(text: string, place: string): Buffer;
  decrypt(sealed: Buffer, place: string): string;
}

/**
 * The seal of this installation: by the key of the secrets, which `secret rotate-key` changes for addresses too.
 * @param cipher null where secrets are in a cluster: then the key is a secret
 */
export function openAddressSeal(
  db: Db,
  secrets: Pick<SecretStore, 'get' | 'put'>,
  cipher: AddressCipher | null,
): AddressSeal {
  if (cipher === null) return sealBySecret(db, secrets);
  return {
    seal: async (text, place) => cipher.encrypt(text, place),
    open: async (sealed, place) => cipher.decrypt(sealed, place),
  };
}

/** The seal by a key in the store of secrets, which all processes share. It is made when the first address is sealed. */
function sealBySecret(db: Db, secrets: Pick<SecretStore, 'get' | 'put'>): AddressSeal {
  const stored = async (): Promise<Buffer | null> => {
    const key = Buffer.from((await secrets.get(ADDRESS_KEY_SECRET))?.[KEY] ?? '', 'hex');
    return key.length === SEAL_KEY_BYTES ? key : null;
  };
  const made = () =>
    // What one process seals with a key that another replaces would be lost.
    withSetupLock(db, async () => {
      const found = await stored();
      if (found !== null) return found;
      const key = randomBytes(SEAL_KEY_BYTES);
      await secrets.put(ADDRESS_KEY_SECRET, KEY, key.toString('hex'));
      return key;
    });
  return {
    seal: async (text, place) => {
      const key = (await stored()) ?? (await made());
      return sealBytes(key, Buffer.from(text), Buffer.from(place));
    },
    open: async (sealed, place) => {
      const key = await stored();
      const text = key === null ? null : unseal(key, sealed, place);
      if (text !== null) return text;
      throw musterError(
        'secret_unreadable',
        `The ${place} cannot be read with the key in secret ${ADDRESS_KEY_SECRET}`,
      );
    },
  };
}

function unseal(key: Buffer, sealed: Buffer, place: string): string | null {
  try {
    return openBytes(key, sealed, Buffer.from(place)).toString('utf8');
  } catch {
    return null;
  }
}
