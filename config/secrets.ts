/** The settings of the stores of secrets and ConfigMaps. */
import { z } from 'zod';

export const secrets = {
  settings: {
    MUSTER_SECRETS: z
      .enum(['database', 'kubernetes'])
      .default('database')
      .meta({
        description:
          'Where secrets are. `database`: in Postgres, encrypted with a key of the data directory. `kubernetes`: as ' +
          'Secrets.',
        change: 'Set `kubernetes` when the site keeps secrets in its cluster.',
      }),
    MUSTER_CONFIGMAPS: z
      .enum(['directory', 'kubernetes'])
      .default('directory')
      .meta({
        description:
          'Where ConfigMaps are. `directory`: in the data directory. `kubernetes`: in the cluster, which Muster ' +
          'only reads.',
        change: 'Set `kubernetes` when the site keeps ConfigMaps in its cluster.',
      }),
    MUSTER_SECRETS_NAMESPACE: z
      .string()
      .min(1)
      .default('muster')
      .meta({
        description:
          'Namespace of Secrets and ConfigMaps that are in a cluster. It must exist. The cluster is that of ' +
          '`KUBECONFIG`, or the cluster that Muster runs in.',
        change: 'Set it when they are in another namespace.',
      }),
  },
};
