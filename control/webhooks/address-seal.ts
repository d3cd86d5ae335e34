/** What encrypts the addresses of webhooks. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { musterError } from '../../domain/errors.ts';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import { ADDRESS_KEY_SECRET } from '../../domain/secrets/secret-uses.ts';
import type { Db } from '../../store/connection/database.ts';
import { withSetupLock } from '../../store/connection/setup-lock.ts';

const KEY = 'key';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

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
    return key.length === KEY_BYTES ? key : null;
  };
  const made = () =>
    // What one process seals with a key that another replaces would be lost.
    withSetupLock(db, async () => {
      const found = await stored();
      if (found !== null) return found;
      const key = randomBytes(KEY_BYTES);
      await secrets.put(ADDRESS_KEY_SECRET, KEY, key.toString('hex'));
      return key;
    });
  return {
    seal: async (text, place) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', (await stored()) ?? (await made()), nonce).setAAD(
        Buffer.from(place),
      );
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]);
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
    const cipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(place))
      .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return cipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + cipher.final('utf8');
  } catch {
    return null;
  }
}
