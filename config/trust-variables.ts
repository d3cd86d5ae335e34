/** The settings of trust: who signs what sessions show to hosts, and for whom. */
import { z } from 'zod';
import { list } from './variable-forms.ts';

const url = z.url({ protocol: /^https?$/ });
/** Names of users, as certificates hold them between commas. */
const principals = list.refine((names) => names.length > 0 && names.every((name) => /^[^\s,]+$/.test(name)), {
  message: 'must be names of users with commas between them',
});

export const TRUST_VARIABLES = {
  /** Users as whom a session's certificate lets it log in at hosts. */
  MUSTER_TRUST_PRINCIPALS: principals.default(['root']),
  /** Life of a certificate, seconds; renewed when half of it is over. Default 12 h, as CFS has it. */
  MUSTER_TRUST_TTL: z.coerce.number().int().min(4).max(2_592_000).default(43_200),
  /** Vault that signs the certificates. Default: an authority of this installation. */
  MUSTER_VAULT_URL: url.optional(),
  /** Role of the login at Vault by Kubernetes. */
  MUSTER_VAULT_ROLE: z.string().min(1).default('ssh-user-certs-compute'),
  /** File with the token of the service account for that login. */
  MUSTER_VAULT_JWT_FILE: z.string().min(1).default('/var/run/secrets/kubernetes.io/serviceaccount/token'),
  /** Boot script service in which the authority's key is published too, as `Global.cfs_public_key`. Default: nowhere. */
  MUSTER_BOOT_METADATA_URL: url.optional(),
};
