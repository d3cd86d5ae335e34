import type { WatchDependencies } from '../../../activities/sessions/cluster/watch-job.ts';
import type { ClusterJobs } from '../../../domain/sessions/cluster/cluster-job.ts';
import type { Db } from '../../../store/connection/database.ts';
import { SITE } from '../kubernetes/site-stand-ins.ts';

/** What following and ending a Job need, on a cluster that a test moves by hand. */
export const watchDependencies = (
  db: Db,
  cluster: ClusterJobs,
  patience: WatchDependencies['patience'] = { waiting: 60_000, impossible: 60_000 },
): WatchDependencies => ({
  db,
  cluster,
  patience,
  ingestUrl: 'http://muster-ingest.test:8101',
  clock: () => new Date(),
  site: { ...SITE, ssh: async () => ({ privateKey: 'k', knownHosts: '' }) },
  trust: {
    hasOwnKey: false,
    identity: async () => ({ privateKey: 'k', publicKey: 'line', certificate: 'c', lookAgainMs: 1, problem: null }),
  },
  imageKeys: { read: async () => null },
  publicKeyOf: async () => 'line',
  logMaxBytes: 64 * 2 ** 20,
});
