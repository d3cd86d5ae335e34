/** What encrypts the addresses of webhooks. */
import { musterError } from '../../domain/errors.ts';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import { ADDRESS_KEY_SECRET } from '../../domain/secrets/secret-uses.ts';
import type { Db } from '../../store/connection/database.ts';
import { openBytes, sealBytes } from '../sealing/sealed-bytes.ts';
import { storedKey } from '../sealing/stored-key.ts';

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

/** The seal by a key in the store of secrets. The key is made when the first address is sealed. */
function sealBySecret(db: Db, secrets: Pick<SecretStore, 'get' | 'put'>): AddressSeal {
  const stored = storedKey(db, secrets, ADDRESS_KEY_SECRET);
  return {
    seal: async (text, place) => sealBytes(await stored.findOrMake(), Buffer.from(text), Buffer.from(place)),
    open: async (sealed, place) => {
      const key = await stored.find();
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
