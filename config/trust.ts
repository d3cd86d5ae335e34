/** The settings of trust: who signs what sessions show to hosts, and for whom. */
import { z } from 'zod';
import { list } from './forms.ts';

const url = z.url({ protocol: /^https?$/ });
/** Names of users, as certificates hold them between commas. */
const principals = list.refine((names) => names.length > 0 && names.every((name) => /^[^\s,]+$/.test(name)), {
  message: 'must be names of users with commas between them',
});

export const trust = {
  settings: {
    MUSTER_TRUST_PRINCIPALS: principals.default(['root']).meta({
      description: "Users as whom a session's certificate lets the session log in at hosts, with commas between them.",
      change: 'Set it when playbooks log in as other users.',
    }),
    MUSTER_TRUST_TTL: z.coerce
      .number()
      .int()
      .min(4)
      .max(2_592_000)
      .default(43_200)
      .meta({
        description:
          "Life of a session's certificate. Muster renews the certificate after half of its life. The default is " +
          'that of CFS.',
        unit: 's',
        change: 'Lower it when the site wants shorter certificates.',
      }),
    MUSTER_VAULT_URL: url.optional().meta({
      description: 'Vault that signs the certificates.',
      fallback: 'an authority of this installation',
      change: 'Set it when the certificate authority is in Vault.',
    }),
    MUSTER_VAULT_ROLE: z.string().min(1).default('ssh-user-certs-compute').meta({
      description: 'Role of the login at Vault by Kubernetes.',
      change: "Set it to the role that the site's Vault has.",
    }),
    MUSTER_VAULT_JWT_FILE: z.string().min(1).default('/var/run/secrets/kubernetes.io/serviceaccount/token').meta({
      description:
        'File with the token of the service account for the login at Vault. Muster reads the file for each login.',
      change: 'Set it when the token is mounted at another path.',
      path: true,
    }),
    MUSTER_BOOT_METADATA_URL: url.optional().meta({
      description:
        "Boot script service in which Muster also publishes the authority's key, as `Global.cfs_public_key`.",
      fallback: 'the key is not published there',
      change: 'Set it when nodes take the key from their boot script service.',
    }),
  },
};
