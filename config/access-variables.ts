/** The settings of access control: each field says unit, default and why; then what does not go together. */
import { z } from 'zod';
import { flag, list } from './variable-forms.ts';

/** Keys that decide who is let in must not come over a line that anybody can change. */
const secureUrl = z.url().refine((value) => {
  const { protocol, hostname } = new URL(value);
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackName(hostname));
}, 'must begin with https://');

/** As the domain has them; settings are read without it, and the types of both meet where the API is put together. */
const ROLES = ['admin', 'operator', 'reader', 'node'] as const;

const roleMap = list.transform((pairs, context) => {
  const entries = pairs.map((pair) => {
    const [, word = '', role] = /^(.+)=([a-z]+)$/.exec(pair) ?? [];
    const known = ROLES.find((each) => each === role);
    if (known === undefined) {
      context.addIssue({ code: 'custom', message: `'${pair}' is not word=role with one of ${ROLES.join(', ')}` });
    }
    return [word, known ?? 'reader'] as const;
  });
  return Object.fromEntries(entries);
});

const header = z
  .string()
  .regex(/^[A-Za-z0-9-]+$/, 'must be the name of a header')
  .transform((name) => name.toLowerCase());

export const ACCESS_VARIABLES = {
  /** `none`: no check, only on loopback. `token`: every request but the public ones needs a bearer token. */
  MUSTER_AUTH: z.enum(['none', 'token']).default('none'),
  /** Set where a gateway in front checks access; allows `none` on other than loopback addresses. */
  MUSTER_TRUST_GATEWAY: flag.default(false),
  /** Header in which that gateway says who asks; stored as actor. Default: nobody is known. */
  MUSTER_ACTOR_HEADER: header.optional(),
  /** File with an administrator's token, made when it is not there. Default: in the data directory of an embedded stack. */
  MUSTER_ADMIN_TOKEN_FILE: z.string().min(1).optional(),
  /** Token of the command line, or the file that holds it. Read by it alone; known here as MUSTER_URL is. */
  MUSTER_TOKEN: z.string().min(1).optional(),
  MUSTER_TOKEN_FILE: z.string().min(1).optional(),
  /** PEM files of the API's certificate chain and its key: with both, the API speaks TLS alone. Read again when they change. */
  MUSTER_TLS_CERT: z.string().min(1).optional(),
  MUSTER_TLS_KEY: z.string().min(1).optional(),
  /** Issuer of tokens (OpenID Connect) that are accepted besides Muster's own, and the audiences they may be for. */
  MUSTER_OIDC_ISSUER: secureUrl.optional(),
  MUSTER_OIDC_AUDIENCE: list.optional(),
  /** Where the issuer's keys are. Default: what its discovery document says. */
  MUSTER_OIDC_JWKS_URL: secureUrl.optional(),
  /** Claim with the roles: a name, or a way by dots such as `realm_access.roles`. */
  MUSTER_OIDC_ROLES_CLAIM: z.string().min(1).default('roles'),
  /** `word=role,...`: role of each word of that claim. Default: the words are admin, operator, reader, node. */
  MUSTER_OIDC_ROLE_MAP: roleMap.optional(),
  /** Claim with the id of the component, for the role node. */
  MUSTER_OIDC_COMPONENT_CLAIM: z.string().min(1).default('component'),
};

type AccessEnvironment = z.infer<z.ZodObject<typeof ACCESS_VARIABLES>> & { MUSTER_API_HOST: string };
type Name = keyof AccessEnvironment;

/** Whether only this machine can reach an API that listens there. */
export function isOnLoopback({ MUSTER_API_HOST: host }: Pick<AccessEnvironment, 'MUSTER_API_HOST'>): boolean {
  return isLoopbackName(host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);
}

function isLoopbackName(host: string): boolean {
  return /^(127(\.[0-9]{1,3}){3}|localhost|\[::1\])$/.test(host);
}

/** Settings that need another one, or contradict one, each with what is wrong. */
export function accessMistakes(env: AccessEnvironment): [name: Name, message: string][] {
  const mistakes: [Name, string][] = [];
  const complain = (name: Name, message: string): void => void mistakes.push([name, message]);
  const needs = (name: Name, other: Name): void => {
    if (env[name] !== undefined && env[other] === undefined) complain(name, `needs ${other} too`);
  };
  needs('MUSTER_TLS_CERT', 'MUSTER_TLS_KEY');
  needs('MUSTER_TLS_KEY', 'MUSTER_TLS_CERT');
  needs('MUSTER_OIDC_ISSUER', 'MUSTER_OIDC_AUDIENCE');
  for (const name of ['MUSTER_OIDC_AUDIENCE', 'MUSTER_OIDC_JWKS_URL', 'MUSTER_OIDC_ROLE_MAP'] as const) {
    needs(name, 'MUSTER_OIDC_ISSUER');
  }
  if (env.MUSTER_OIDC_AUDIENCE?.length === 0) complain('MUSTER_OIDC_AUDIENCE', 'names no audience');
  if (env.MUSTER_AUTH === 'none') {
    if (!isOnLoopback(env) && !env.MUSTER_TRUST_GATEWAY) {
      const fix = 'set MUSTER_AUTH=token, or MUSTER_TRUST_GATEWAY=1 where a gateway in front checks access';
      complain(
        'MUSTER_API_HOST',
        `is not loopback, and without access control whoever reaches it may run code: ${fix}`,
      );
    }
    for (const name of ['MUSTER_OIDC_ISSUER', 'MUSTER_ADMIN_TOKEN_FILE'] as const) {
      if (env[name] !== undefined) complain(name, 'needs MUSTER_AUTH=token');
    }
  }
  if (env.MUSTER_ACTOR_HEADER !== undefined && (env.MUSTER_AUTH !== 'none' || !env.MUSTER_TRUST_GATEWAY)) {
    complain('MUSTER_ACTOR_HEADER', 'is believed only with MUSTER_TRUST_GATEWAY=1 and MUSTER_AUTH=none');
  }
  return mistakes;
}
