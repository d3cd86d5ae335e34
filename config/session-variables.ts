/** The settings of what sessions use: Ansible, inventories, tenants, repositories, logs. */
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { bytes, flag, list } from './variable-forms.ts';

export const SESSION_VARIABLES = {
  MUSTER_LOCAL_RUNS: z.coerce.number().int().min(1).default(availableParallelism()).meta({
    description: 'Playbooks that run on this machine at the same time.',
    unit: 'playbooks',
    fallback: 'cores of the machine',
    change: 'Lower it when playbooks need much memory.',
  }),
  MUSTER_ANSIBLE_BIN_DIR: z.string().optional().meta({
    description: 'Folder with `ansible-playbook`.',
    fallback: 'found in the cache, then in `PATH`',
    change: 'Set it for an Ansible of the site.',
  }),
  MUSTER_PLAYBOOK_COMMAND: z.string().optional().meta({
    description: 'Program that runs in place of `ansible-playbook`.',
    change: "Set it to measure Muster's own share of a run.",
  }),
  MUSTER_INVENTORY: z.enum(['components', 'hsm']).default('components').meta({
    description: "Provider of dynamic inventories: Muster's `components`, or `hsm`, a hardware state manager.",
    change: 'Set `hsm` when groups come from a hardware state manager.',
  }),
  MUSTER_HSM_URL: z.url().default('http://cray-smd/hsm/v2').meta({
    description: 'Base URL of the hardware state manager for `MUSTER_INVENTORY=hsm`.',
    change: 'Set it when it is at another address.',
  }),
  MUSTER_HARDWARE_SYNC_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({
      description: 'Base URL of a hardware state manager whose nodes become components.',
      fallback: 'no component is made by itself',
      change: 'Set it when components should appear by themselves.',
    }),
  MUSTER_TENANT_REGISTRY_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({
      description: 'Base URL of the registry that knows the tenants.',
      fallback: 'a request for a tenant is refused',
      change: 'Set it when the site has tenants.',
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
  MUSTER_CA_FILE: z
    .string()
    .optional()
    .meta({
      description:
        "PEM file of the site's CAs, trusted besides the public ones. Database, Temporal, and sources with CAs of " +
        'their own do not use it.',
      change: 'Set it when servers of the site have certificates of a private CA.',
    }),
  MUSTER_ALLOW_LOCAL_CONNECTION: flag.optional().meta({
    description: 'Whether a component may say `ansible_connection=local`.',
    fallback: 'on when database and Temporal are embedded',
    change: 'Set `0` when playbooks must not run on the machine of the worker.',
  }),
  MUSTER_REPOSITORY_SCHEMES: list.optional().meta({
    description: 'Schemes of repository URLs, with commas between them.',
    fallback: '`https,http,ssh,git`, and `file` when database and Temporal are embedded',
    change: 'Set it to allow fewer schemes, or `file` too.',
  }),
  MUSTER_LOG_MAX: bytes.default(64 * 2 ** 20).meta({
    description:
      'Largest stored log of a layer. Muster keeps head and tail, and of a runner image of profile `compatible` ' +
      'the head.',
    unit: 'bytes',
    change: 'Raise it when logs are cut.',
  }),
};
