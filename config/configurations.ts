/** The settings of configurations: their repositories, and the tenants who may have some. */
import { z } from 'zod';
import { list } from './forms.ts';

export const configurations = {
  settings: {
    MUSTER_REPOSITORY_SCHEMES: list.optional().meta({
      description: 'Schemes of repository URLs, with commas between them.',
      fallback: '`https,http,ssh,git`, and `file` when database and Temporal are embedded',
      change: 'Set it to allow fewer schemes, or `file` too.',
    }),
    MUSTER_TENANT_REGISTRY_URL: z
      .url({ protocol: /^https?$/ })
      .optional()
      .meta({
        description: 'Base URL of the registry that knows the tenants.',
        fallback: 'a request for a tenant is refused',
        change: 'Set it when the site has tenants.',
      }),
  },
};
