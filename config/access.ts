/** The settings of access control; then what does not go together. */
import { z } from 'zod';
import { flag, list } from './forms.ts';

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

const ACCESS_SETTINGS = {
  MUSTER_AUTH: z
    .enum(['none', 'token'])
    .default('none')
    .meta({
      description:
        '`none`: no check, only on loopback or behind a gateway. `token`: every request but the public ones needs ' +
        'a bearer token.',
      change: 'Set `token` when other people or machines reach the API.',
    }),
  MUSTER_TRUST_GATEWAY: flag.default(false).meta({
    description: 'Allows `MUSTER_AUTH=none` on other than loopback addresses.',
    change: 'Set it when a gateway in front checks access.',
  }),
  MUSTER_ACTOR_HEADER: header.optional().meta({
    description: 'Header in which the gateway names the caller. Muster stores the name with every write.',
    fallback: 'the caller is not known',
    change: 'Set it together with `MUSTER_TRUST_GATEWAY`.',
  }),
  MUSTER_ADMIN_TOKEN_FILE: z.string().min(1).optional().meta({
    description: "File with an administrator's token. Muster makes the file when it is missing.",
    fallback: '`admin-token` in the data directory of an embedded stack',
    change: 'Set it when the site brings the token, as a Secret does.',
    path: true,
  }),
  MUSTER_TLS_CERT: z
    .string()
    .min(1)
    .optional()
    .meta({
      description:
        "PEM file with the API's certificate chain. With certificate and key the API speaks TLS alone. Muster " +
        'reads both again when they change.',
      change: 'Set it together with `MUSTER_TLS_KEY`.',
      path: true,
    }),
  MUSTER_TLS_KEY: z.string().min(1).optional().meta({
    description: "PEM file with the key of the API's certificate.",
    change: 'Set it together with `MUSTER_TLS_CERT`.',
    path: true,
  }),
  MUSTER_OIDC_ISSUER: secureUrl.optional().meta({
    description: "Issuer (OpenID Connect) whose tokens the API accepts besides Muster's own.",
    change: 'Set it for single sign-on, together with `MUSTER_OIDC_AUDIENCE`.',
  }),
  MUSTER_OIDC_AUDIENCE: list.optional().meta({
    description: "Audiences for which the issuer's tokens may be, with commas between them.",
    change: 'Set it together with `MUSTER_OIDC_ISSUER`.',
  }),
  MUSTER_OIDC_JWKS_URL: secureUrl.optional().meta({
    description: "Address of the issuer's keys.",
    fallback: "by the issuer's discovery document",
    change: 'Set it when the discovery document does not name a reachable address.',
  }),
  MUSTER_OIDC_ROLES_CLAIM: z.string().min(1).default('roles').meta({
    description: 'Claim with the roles. Dots lead inside, as in `realm_access.roles`.',
    change: 'Set it when the issuer puts roles into another claim.',
  }),
  MUSTER_OIDC_ROLE_MAP: roleMap.optional().meta({
    description: '`word=role,...`: role of each word of the claim.',
    fallback: 'the words are admin, operator, reader, node',
    change: "Set it when the issuer's words are not names of Muster's roles.",
  }),
  MUSTER_OIDC_COMPONENT_CLAIM: z.string().min(1).default('component').meta({
    description: 'Claim with the id of the component, for the role node.',
    change: 'Set it when the issuer uses another claim.',
  }),
};

type AccessEnvironment = z.infer<z.ZodObject<typeof ACCESS_SETTINGS>> & { MUSTER_API_HOST: string };
type Name = keyof AccessEnvironment;

/** Whether only this machine can reach an API that listens there. */
export function isOnLoopback({ MUSTER_API_HOST: host }: Pick<AccessEnvironment, 'MUSTER_API_HOST'>): boolean {
  return isLoopbackName(host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);
}

function isLoopbackName(host: string): boolean {
  return /^(127(\.[0-9]{1,3}){3}|localhost|\[::1\])$/.test(host);
}

/** Settings that need another one, or contradict one, each with what is wrong. */
function accessMistakes(env: AccessEnvironment): [name: Name, message: string][] {
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

export const access = { settings: ACCESS_SETTINGS, mistakes: accessMistakes };
