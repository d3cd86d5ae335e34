/** Measurements on a Kubernetes cluster: the development cluster's, or that of a kubeconfig. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missingForCluster } from '../test/support/kubernetes/cluster-command.ts';
import { type ClusterStack, startClusterStack } from '../test/support/kubernetes/cluster-stack.ts';
import { takeCluster } from '../test/support/kubernetes/take-cluster.ts';
import type { BareJob } from './bare-job.ts';
import { plainAnsibleConfig } from './bare-run.ts';
import { commitEndlessPlays, ENDLESS } from './endless-plays.ts';
import { commitPlaybooks, hostNames, inventoryOf } from './fleet.ts';
import type { Measurement } from './measurement.ts';
import { measureJobBurst } from './measurements/job-burst.ts';
import { measureJobCancel } from './measurements/job-cancel.ts';
import { measureJobMemory } from './measurements/job-memory.ts';
import { measureJobShare } from './measurements/job-share.ts';
import { measureJobStart } from './measurements/job-start.ts';
import { measureLive } from './measurements/live-events.ts';

const HOSTS = hostNames(1);

export type ClusterWork = (cluster: ClusterStack) => Promise<Measurement>;

/** Sessions as Jobs; all on one stack, the one that leaves most last, which takes a quarter of an hour on 2 cores. */
export const JOBS: Record<string, ClusterWork> = {
  jobstart: (cluster) => measureJobStart(cluster, 'one'),
  job: async (cluster) => measureJobShare(cluster, 'one', 'one.yml', await bareOf(cluster)),
  jobcancel: async (cluster) => measureJobCancel(cluster, await bareOf(cluster)),
  joblive: (cluster) => measureLive(cluster.stack, 'sixty', 'n0', 'task event of a Job to a client that follows'),
  jobs20: (cluster) => measureJobBurst(cluster, 'one'),
  jobs200: (cluster) => measureJobMemory(cluster, 'one'),
};

/** Measures what can be measured here; says why where no cluster can be had. */
export async function measureOnCluster(work: [string, ClusterWork][]): Promise<Measurement[]> {
  if (work.length === 0) return [];
  const missing = await missingForCluster();
  if (missing.length > 0) {
    const names = work.map(([name]) => name).join(', ');
    process.stderr.write(`not measured, since there can be no cluster here: ${names}\n  ${missing.join('\n  ')}\n`);
    return [];
  }
  const end = await takeCluster();
  try {
    const cluster = await startClusterStack();
    try {
      const repository = await cluster.stack.repository('bench');
      await commitPlaybooks(repository);
      await commitEndlessPlays(repository);
      for (const name of ['one', 'sixty', ...Object.keys(ENDLESS)]) {
        await cluster.stack.configure(name, cluster.repositoryUrl('bench'), [`${name}.yml`], HOSTS);
      }
      const results: Measurement[] = [];
      for (const [name, run] of work) {
        process.stderr.write(`measuring ${name}\n`);
        results.push(await run(cluster));
      }
      return results;
    } finally {
      await cluster.remove();
    }
  } finally {
    await end();
  }
}

async function bareOf(cluster: ClusterStack): Promise<Omit<BareJob, 'like'>> {
  const repository = cluster.repositoryUrl('bench');
  return { repository, inventory: inventoryOf(HOSTS), ansibleConfig: await plainConfig() };
}

/** The shipped ansible.cfg without what is Muster's own. */
async function plainConfig(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-bench-'));
  try {
    return await readFile(
      await plainAnsibleConfig(join(import.meta.dirname, '..', 'ansible', 'ansible.cfg'), dir),
      'utf8',
    );
  } finally {
    await rm(dir, { recursive: true });
  }
}
