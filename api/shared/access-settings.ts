import type { Environment } from '../../config/environment.ts';
import { createJwtVerifier } from '../../drivers/oidc/verify-jwt.ts';
import type { AccessSettings } from './api-shared.ts';

/** Who is let in; `ca` is trusted for the issuer besides the public certificates. */
export function accessSettings(
  env: Environment,
  ca: string | undefined,
  warn: (message: string) => void,
): AccessSettings {
  if (env.MUSTER_AUTH === 'none') return { mode: 'none', actorHeader: env.MUSTER_ACTOR_HEADER };
  const { MUSTER_OIDC_ISSUER: issuer, MUSTER_OIDC_AUDIENCE: audience } = env;
  if (issuer === undefined || audience === undefined) return { mode: 'token', issuer: undefined };
  return {
    mode: 'token',
    issuer: {
      verify: createJwtVerifier({ issuer, audience, jwksUrl: env.MUSTER_OIDC_JWKS_URL, ca, log: warn }),
      rules: {
        rolesClaim: env.MUSTER_OIDC_ROLES_CLAIM,
        roleMap: env.MUSTER_OIDC_ROLE_MAP,
        componentClaim: env.MUSTER_OIDC_COMPONENT_CLAIM,
      },
    },
  };
}
