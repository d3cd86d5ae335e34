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
    MUSTER_DEPLOY_RETRY_SECONDS: z.coerce.number().min(0.1).max(3_600).default(2).meta({
      description: 'First wait (s) for a member cluster that cannot be reached. A deployment may say otherwise.',
      change: 'Raise it where clusters are away for long.',
    }),
    MUSTER_DEPLOY_RETRY_BACKOFF: z.coerce.number().min(1).max(10).default(1.5).meta({
      description: 'Each wait for a member cluster is so many times the former; 1: all are alike.',
      change: 'Set 1 for clusters that are never away for long.',
    }),
    MUSTER_DEPLOY_RETRY_MAX_SECONDS: z.coerce.number().min(0.1).max(86_400).default(60).meta({
      description: 'Longest wait (s) for a member cluster.',
      change: 'Raise it where clusters are away for days.',
    }),
    MUSTER_DEPLOY_MAX_RETRIES: z
      .string()
      .regex(/^(-?[0-9]{1,9})?$/, { message: 'must be a whole number, or empty' })
      .default('')
      .meta({
        description:
          'Waits for a member cluster after which its resources are given up. Empty or negative: it is waited for ever.',
        change: 'Set it where a deployment must come to an end while a cluster is away.',
      }),
    MUSTER_DEPLOY_MAX_PARALLEL_CLUSTERS: z.coerce.number().int().min(1).max(1_000).default(50).meta({
      description: 'Member clusters that one deployment works on at once.',
      change: 'Lower it to spare the worker.',
    }),
    MUSTER_DEPLOY_CLUSTER_CONCURRENCY: z.coerce.number().int().min(1).max(100).default(5).meta({
      description: 'Requests that a worker has in flight at one member cluster to apply and delete.',
      change: 'Lower it for API servers that are slow; raise it for fast ones with many apps.',
    }),
    MUSTER_DEPLOY_GROUP_PARALLELISM: z.coerce.number().int().min(1).max(100).default(1).meta({
      description:
        'Resources of an app that are handled at once on each member cluster, where annotations `muster/wait-on` say their order.',
      change: 'Raise it for large apps that say what their resources wait for.',
    }),
    MUSTER_DEPLOY_DELETION_WAIT_SECONDS: z.coerce.number().int().min(1).max(86_400).default(300).meta({
      description: 'How long (s) an object that is still being deleted is waited for before its apply fails.',
      change: 'Raise it where finalizers take long.',
    }),
    MUSTER_DEPLOY_STALE_AFTER_SECONDS: z.coerce.number().int().min(10).max(86_400).default(60).meta({
      description: 'A member cluster that has not answered for so long (s) is `Unreachable`.',
      change: 'Raise it where clusters are often away for a while.',
    }),
    MUSTER_DEPLOY_UNKNOWN_FIELDS: z
      .enum(['refuse', 'drop'])
      .refine((word) => word !== 'drop', 'drop is not built yet: set refuse, or leave it out')
      .default('refuse')
      .meta({
        description:
          'What happens to fields of a manifest that the schema of its kind does not know. Only `refuse` is built.',
        change: 'There is nothing to change yet.',
      }),
    MUSTER_DEPLOY_FORCE_CONFLICTS: flag
      .refine((isOn) => isOn, 'false is not built yet: set true, or leave it out')
      .default(true)
      .meta({
        description: 'Whether an apply takes over fields that others manage. Only `true` is built.',
        change: 'There is nothing to change yet.',
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
