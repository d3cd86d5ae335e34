import { decodeJwt, decodeProtectedHeader, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { isMusterError, type MusterError, musterError } from '../../domain/errors.ts';
import { type IssuerOptions, openIssuerKeys } from './issuer-keys.ts';

export interface VerifierOptions extends IssuerOptions {
  /** One of these must be in `aud`. */
  audience: readonly string[];
}

/** Signatures that only the issuer can make: with `HS256` and the like whoever may check could sign too. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** Seconds by which clocks may differ. */
const LEEWAY = 30;

/**
 * Checks tokens of one issuer: signature by a key of its own, `iss`, `aud`, `exp` (required) and `nbf`.
 * @returns answers the claims; throws `unauthenticated` with the reason, or `issuer_unavailable`
 */
export function createJwtVerifier(options: VerifierOptions): (token: string) => Promise<Record<string, unknown>> {
  const source = openIssuerKeys(options);
  const now = options.now ?? Date.now;
  const check = async (token: string, keys: JWTVerifyGetKey) => {
    const { payload } = await jwtVerify(token, keys, {
      algorithms: ALGORITHMS,
      issuer: options.issuer,
      audience: [...options.audience],
      requiredClaims: ['exp'],
      clockTolerance: LEEWAY,
      currentDate: new Date(now()),
    });
    return payload;
  };
  return async (token) => {
    try {
      refuseForeign(token, options.issuer);
      try {
        return await check(token, await source.current());
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        const renewed = await source.renewed();
        if (renewed === null) throw error;
        return await check(token, renewed);
      }
    } catch (error) {
      throw isMusterError(error) ? error : refusalOf(error);
    }
  };
}

/** What can be seen without a key, so that tokens of others do not make us ask the issuer. */
function refuseForeign(token: string, issuer: string): void {
  const { alg } = decodeProtectedHeader(token);
  if (alg === undefined || !ALGORITHMS.includes(alg)) {
    throw musterError('unauthenticated', `The token is signed by '${String(alg).slice(0, 20)}', which is not accepted`);
  }
  if (decodeJwt(token).iss !== issuer) {
    throw musterError('unauthenticated', `The token is not of the issuer ${issuer}`);
  }
}

/** The library's refusal in our words. Whatever else goes wrong with a token is the token's fault, too. */
function refusalOf(error: unknown): MusterError {
  return musterError('unauthenticated', reasonOf(error));
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'The token expired';
  if (error instanceof errors.JWTClaimValidationFailed) {
    return error.reason === 'missing'
      ? `The token has no claim '${error.claim}'`
      : `The token is not valid here or now: its claim '${error.claim}' does not fit`;
  }
  if (error instanceof errors.JWKSNoMatchingKey) return 'The token is signed by a key that the issuer does not have';
  if (error instanceof errors.JWKSMultipleMatchingKeys) return 'The token does not say which key signed it (kid)';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'The signature of the token is wrong';
  return 'The token cannot be read';
}
