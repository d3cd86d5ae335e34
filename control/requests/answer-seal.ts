import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { openBytes, SEAL_KEY_BYTES, sealBytes } from '../sealing/sealed-bytes.ts';
import type { SealKeys } from '../sealing/stored-key.ts';

/** Secret with the key of stored answers, made when it is first needed. */
const SEAL_SECRET = 'muster-idempotency';
const SEAL_KEY = 'key';
const compress = promisify(gzip);
const decompress = promisify(gunzip);

/**
 * What of a request and its answer is stored says nothing to a reader of the database: bodies may hold passwords, which a
 * plain hash would allow to guess, and answers may hold a token that is shown once.
 */
export interface AnswerSeal {
  /** Keyed hash of a body. */
  fingerprint(body: Uint8Array): Buffer;
  /** Compresses and encrypts; it opens in its own place alone. */
  seal(text: Uint8Array, place: Buffer): Promise<Buffer>;
  open(sealed: Buffer, place: Buffer): Promise<Buffer>;
}

/** The seal by the key in the store of secrets, which all API processes share. */
export async function readAnswerSeal(secrets: SealKeys): Promise<AnswerSeal> {
  const stored = await storedKey(secrets);
  if (stored === null) await secrets.put(SEAL_SECRET, SEAL_KEY, randomBytes(SEAL_KEY_BYTES).toString('hex'));
  // Read again: of two processes that make it at once, the later has won.
  return sealBy(Buffer.from(stored ?? (await storedKey(secrets)) ?? '', 'hex'));
}

async function storedKey(secrets: SealKeys): Promise<string | null> {
  return (await secrets.get(SEAL_SECRET))?.[SEAL_KEY] ?? null;
}

function sealBy(secret: Buffer): AnswerSeal {
  const derived = (use: string) => Buffer.from(hkdfSync('sha256', secret, '', `muster ${use}`, SEAL_KEY_BYTES));
  const macKey = derived('request fingerprint');
  const key = derived('stored answer');
  return {
    fingerprint: (body) => createHmac('sha256', macKey).update(body).digest(),
    seal: async (text, place) => sealBytes(key, await compress(text, { level: 1 }), place),
    open: (sealed, place) => decompress(openBytes(key, sealed, place)),
  };
}
