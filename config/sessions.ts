/** The settings of sessions: ARA, the Vault of tenants, the image service of the site. */
import { z } from 'zod';
import { baseUrl } from './forms.ts';

const seconds = z.coerce.number().int().min(1).max(604_800);

const SESSION_SETTINGS = {
  MUSTER_ARA_URL: baseUrl.optional().meta({
    description: 'Base of links to ARA in CFS records.',
    fallback: "the API's own pages",
    change: 'Set it when links should lead to an ARA server of the site.',
  }),
  MUSTER_ARA_SERVER_URL: baseUrl
    .refine((value) => new URL(value).username === '', 'must hold no credentials: use MUSTER_ARA_CREDENTIALS_FILE')
    .optional()
    .meta({
      description: 'Base URL of an ARA server to which runs report as well. It holds no credentials.',
      change: 'Set it when the site has an ARA server.',
    }),
  MUSTER_ARA_CREDENTIALS_FILE: z.string().min(1).optional().meta({
    description: 'JSON file with `username` and `password` for the ARA server.',
    change: 'Set it when that server asks for them.',
    path: true,
  }),
  MUSTER_TENANT_VAULT_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({
      description: 'Vault in which tenants keep the secrets of their playbooks.',
      fallback: 'sessions have no `VAULT_TOKEN`',
      change: 'Set it when playbooks of tenants need `VAULT_TOKEN`.',
    }),
  MUSTER_TENANT_VAULT_ROLE: z.string().min(1).default('{tenant}').meta({
    description:
      "Role of the login by Kubernetes at the Vault of tenants, with `{tenant}` in place of the tenant's name.",
    change: "Set it to the names of the roles in the site's Vault.",
  }),
  MUSTER_IMS_URL: baseUrl.optional().meta({
    description: 'Base URL of an image service of the site, with its prefix if it has one.',
    fallback: "Muster's own service",
    change: 'Set it when the site has an image service.',
  }),
  MUSTER_IMS_TOKEN: z.string().min(1).optional().meta({
    description: 'Bearer token for the image service of the site.',
    change: 'Set it, or `MUSTER_IMS_TOKEN_FILE`, when that service asks for a token.',
    secret: true,
  }),
  MUSTER_IMS_TOKEN_FILE: z
    .string()
    .min(1)
    .optional()
    .meta({
      description:
        'File with the bearer token for the image service of the site. Muster reads the file for each request, so ' +
        'the token may be renewed.',
      change: 'Set it in place of `MUSTER_IMS_TOKEN` when the token changes.',
      path: true,
    }),
  MUSTER_IMS_WAIT: seconds.default(1_800).meta({
    description:
      'Longest wait of a session for its images to open, and again for the new images, with nothing new from ' +
      'any image. In all a session waits at most that long for each image.',
    unit: 's',
    change: 'Raise it for large images or slow disks.',
  }),
  MUSTER_IMS_QUEUE_WAIT: seconds.default(86_400).meta({
    description:
      "Longest wait of an image job for its turn at Muster's own image service, to open and again to be packed. " +
      '`MUSTER_IMS_WAIT` does not count this time.',
    unit: 's',
    change: 'Raise it when image jobs queue for more than a day.',
  }),
};

/** What does not fit together, as variable and sentence. */
function imsMistakes(env: {
  MUSTER_IMS_TOKEN?: string | undefined;
  MUSTER_IMS_TOKEN_FILE?: string | undefined;
}): [name: string, message: string][] {
  const both = env.MUSTER_IMS_TOKEN !== undefined && env.MUSTER_IMS_TOKEN_FILE !== undefined;
  return both ? [['MUSTER_IMS_TOKEN_FILE', 'give it or MUSTER_IMS_TOKEN, not both']] : [];
}

export const sessions = { settings: SESSION_SETTINGS, mistakes: imsMistakes };
