/** The settings of deployments to member clusters. */
import { z } from 'zod';
import { flag, list } from './forms.ts';

const CIDR = /^([0-9]{1,3}(\.[0-9]{1,3}){3}\/([0-9]|[12][0-9]|3[0-2])|[0-9a-fA-F:]+\/([0-9]{1,2}|1[01][0-9]|12[0-8]))$/;

export const deployments = {
  settings: {
    MUSTER_DEPLOY_CALL_TIMEOUT_SECONDS: z.coerce.number().int().min(1).max(300).default(30).meta({
      description: 'Longest time for one call to a member cluster, from connecting to the last byte (s).',
      change: 'Raise it for clusters behind slow lines.',
    }),
    MUSTER_DEPLOY_STALE_AFTER_SECONDS: z.coerce.number().int().min(10).max(86_400).default(60).meta({
      description: 'A member cluster that has not answered for so long (s) is `Unreachable`.',
      change: 'Raise it where clusters are often away for a while.',
    }),
    MUSTER_DEPLOY_CLUSTER_NETWORKS: list
      .refine((networks) => networks.every((network) => CIDR.test(network)), {
        message: 'must be networks such as 10.0.0.0/8, with commas between them',
      })
      .default([])
      .meta({
        description:
          'Networks (CIDR, with commas between them) that API servers of member clusters are in. Empty: any but those ' +
          'that are never allowed.',
        change: 'Set it so that a kubeconfig can lead nowhere else.',
      }),
    MUSTER_DEPLOY_ALLOW_LOOPBACK: flag.optional().meta({
      description:
        'Whether API servers of member clusters may be on loopback addresses. Default: on for an embedded stack, else off.',
      change: 'Set it for clusters on the same machine.',
    }),
  },
};
