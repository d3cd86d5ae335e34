/**
 * What a token looks like: a prefix that scanners of leaked secrets can search for, 256 random bits in base 62, and a
 * checksum, so that garbage is refused without a look into the database.
 */

/** What a token is for: the API, the events of one run, all that one session's Job hands in, or the cookie of a sign-in. */
const TOKEN_KINDS = { api: 'muster_', run: 'musterrun_', job: 'musterjob_', 'sign-in': 'mustersign_' } as const;
export type TokenKind = keyof typeof TOKEN_KINDS;

/** Bytes of chance in a token. */
export const TOKEN_BYTES = 32;

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Digits that 256 and 32 bits take in base 62. */
const BODY_LENGTH = 43;
const CHECK_LENGTH = 6;
const BODY = new RegExp(`^[0-9A-Za-z]{${BODY_LENGTH + CHECK_LENGTH}}$`);

/**
 * The token of `TOKEN_BYTES` random bytes.
 * @throws {RangeError} when there are fewer or more
 */
export function formatToken(kind: TokenKind, random: Uint8Array): string {
  if (random.length !== TOKEN_BYTES) throw new RangeError(`a token is made of ${TOKEN_BYTES} bytes`);
  const number = random.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const text = TOKEN_KINDS[kind] + base62(number, BODY_LENGTH);
  return text + checksum(text);
}

/** Which kind of token a text is; null when it is none: other prefix, other length, or mistyped. */
export function tokenKindOf(text: string): TokenKind | null {
  for (const kind of Object.keys(TOKEN_KINDS) as TokenKind[]) {
    const prefix = TOKEN_KINDS[kind];
    if (!text.startsWith(prefix) || !BODY.test(text.slice(prefix.length))) continue;
    return checksum(text.slice(0, -CHECK_LENGTH)) === text.slice(-CHECK_LENGTH) ? kind : null;
  }
  return null;
}

/** The beginning of a token, enough to tell tokens apart and too little to use: for limits and messages. */
export function tokenStart(text: string): string {
  const kind = (Object.keys(TOKEN_KINDS) as TokenKind[]).find((each) => text.startsWith(TOKEN_KINDS[each]));
  return text.slice(0, (kind === undefined ? 0 : TOKEN_KINDS[kind].length) + 8);
}

function base62(number: bigint, length: number): string {
  let text = '';
  for (let rest = number; text.length < length; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text;
  return text;
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECK_LENGTH);
}

/** CRC-32 (IEEE 802.3) of ASCII text. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let index = 0; index < text.length; index += 1) {
    crc ^= text.charCodeAt(index) & 0xff;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
