/** The settings of a worker as a process. */
import { z } from 'zod';
import { hostAndPort } from './forms.ts';

export const worker = {
  settings: {
    MUSTER_WORKER_ROLE: z
      .enum(['all', 'images', 'sessions', 'deployments', 'operator'])
      .default('all')
      .meta({
        description:
          'What a worker does. `images`: only the work on images of its machine. `sessions`: all but that work. ' +
          '`deployments`: only the work at member clusters, which `sessions` and `all` do too. `all`: everything. `operator`: one operator and nothing else; `muster operator run` sets it by itself.',
        change: 'Set it when the work on images, or at member clusters, has a worker of its own.',
      }),
    MUSTER_WORKER_PROBES: hostAndPort.optional().meta({
      description: '`host:port` at which the worker answers `/livez` and `/readyz`.',
      change: 'Set it when a supervisor probes the worker.',
    }),
    MUSTER_TEMPORAL_METRICS: hostAndPort.optional().meta({
      description: "`host:port` on which the worker shows the metrics of Temporal's SDK to Prometheus.",
      change: 'Set it when the site collects metrics.',
    }),
  },
};
