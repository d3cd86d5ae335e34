/** Bytes that are encrypted so that they open with their key and in their own place alone. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

export const SEAL_KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Returns nonce, tag and encrypted bytes. */
export function sealBytes(key: Buffer, bytes: Uint8Array, place: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(place);
  const body = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

/** Returns the bytes. Throws where key or place is another one, or something was changed. */
export function openBytes(key: Buffer, sealed: Buffer, place: Uint8Array): Buffer {
  const cipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(place)
    .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([cipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), cipher.final()]);
}
