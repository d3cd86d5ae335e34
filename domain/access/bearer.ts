/** Longest credential that is looked at, in characters: far above any token of an issuer. */
const MAX_CREDENTIAL = 16 * 1024;

export type Credential =
  | { kind: 'none' }
  | { kind: 'bearer'; token: string }
  /** There is something, and it cannot be a token; `reason` is a sentence without any of it. */
  | { kind: 'unusable'; reason: string };

/** The token in an `Authorization` header (RFC 6750: `Bearer`, in any letter case, and one token). */
export function bearerOf(header: string | undefined): Credential {
  if (header === undefined || header.trim() === '') return { kind: 'none' };
  const [, scheme = '', rest = ''] = /^\s*(\S+)\s*(.*?)\s*$/s.exec(header) ?? [];
  if (scheme.toLowerCase() !== 'bearer') {
    return { kind: 'unusable', reason: 'The Authorization header must be: Bearer TOKEN' };
  }
  if (rest === '') return { kind: 'unusable', reason: 'The Authorization header has no token after Bearer' };
  if (rest.length > MAX_CREDENTIAL) {
    return { kind: 'unusable', reason: `The token is longer than ${MAX_CREDENTIAL} characters` };
  }
  if (!/^[A-Za-z0-9._~+/=-]+$/.test(rest)) {
    return { kind: 'unusable', reason: 'The token has a character that no token has' };
  }
  return { kind: 'bearer', token: rest };
}

/** Whether a text has the form of a signed JSON web token: three parts, the first two of them not empty. */
export function looksLikeJwt(token: string): boolean {
  return /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/.test(token);
}
