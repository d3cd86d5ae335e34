/** The settings of components: inventories of them, and where they come from. */
import { z } from 'zod';
import { flag } from './forms.ts';

export const components = {
  settings: {
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
    MUSTER_ALLOW_LOCAL_CONNECTION: flag.optional().meta({
      description: 'Whether a component may say `ansible_connection=local`.',
      fallback: 'on when database and Temporal are embedded',
      change: 'Set `0` when playbooks must not run on the machine of the worker.',
    }),
  },
};
