/** What access control needs from outside; a driver fits it. */

/**
 * Checks a token that an issuer signed and answers its claims. Throws `unauthenticated` when it is not to be believed and
 * `issuer_unavailable` when that cannot be told now.
 */
export type VerifyJwt = (token: string) => Promise<Record<string, unknown>>;
