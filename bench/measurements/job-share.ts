/** What Muster adds to a bare Job of the same work, in rounds of both one after the other. */
import type { ClusterStack } from '../../test/support/kubernetes/cluster-stack.ts';
import { type BareJob, prepareBareJobs } from '../bare-job.ts';
import type { Measurement } from '../measurement.ts';
import { middleMean } from '../statistics.ts';
import { heldBySeconds, untilComplete } from './session-share.ts';

/**
 * More than of other measurements, and their middle mean: a kubelet looks at its containers once a second, so that each round is a
 * whole second longer or shorter by chance.
 */
const ROUNDS = 16;

export async function measureJobShare(
  cluster: ClusterStack,
  configuration: string,
  playbook: string,
  work: Omit<BareJob, 'like'>,
): Promise<Measurement> {
  const { stack, namespace } = cluster;
  const session = async (label: string) => {
    const started = performance.now();
    const name = await stack.create(`jb-${label}-${Date.now() % 1e6}`, configuration);
    await untilComplete(stack, name, started);
    const wall = (performance.now() - started) / 1000;
    const { status } = await stack.session(name);
    if (status.session.succeeded !== 'true') throw new Error(status.session.message);
    return { wall, job: status.session.job as string };
  };
  // One of each to warm caches; the bare Jobs are made like the first.
  const jobs = await prepareBareJobs(namespace, { ...work, like: (await session('warm')).job });
  const bare = async () => {
    const started = performance.now();
    await jobs.untilComplete(await jobs.start(playbook));
    return (performance.now() - started) / 1000;
  };
  await bare();
  const rounds: Record<'bare' | 'muster', { wall: number }[]> = { bare: [], muster: [] };
  for (let index = 0; index < ROUNDS; index += 1) {
    rounds.bare.push({ wall: await bare() });
    rounds.muster.push({ wall: (await session(String(index))).wall });
  }
  return heldBySeconds('session as a Job, one host and one task', rounds, 1, middleMean);
}
