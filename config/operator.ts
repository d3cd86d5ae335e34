/** The settings of operators; what else they need are flags of `muster operator run`. */
import { z } from 'zod';

export const operator = {
  settings: {
    MUSTER_ANSIBLE_RUNNER: z.string().startsWith('/', 'must be an absolute path').optional().meta({
      description: 'Program that runs the playbooks and roles of an operator.',
      fallback: "Muster's own `ansible-runner`, then the first in `PATH`",
      change: 'Set it for an `ansible-runner` of the site.',
      path: true,
    }),
  },
};
