import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { formatToken, TOKEN_BYTES, type TokenKind } from '../../domain/access/token-format.ts';

/** A new random token. It is shown or handed on once; only `hashToken` of it is stored. */
export function newToken(kind: TokenKind): string {
  return formatToken(kind, randomBytes(TOKEN_BYTES));
}

/**
 * What is stored of a token: its SHA-256, 32 bytes. A slow hash protects passwords that can be guessed; nobody guesses 256
 * random bits, and every request pays for it.
 */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}

/** Whether a stored hash is that of `token`; takes equally long whatever differs. */
export function isHashOf(hash: Uint8Array, token: string): boolean {
  const expected = hashToken(token);
  return hash.length === expected.length && timingSafeEqual(hash, expected);
}
