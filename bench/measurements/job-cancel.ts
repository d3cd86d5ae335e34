/** From the request to cancel a session to the moment at which nothing of its Job is left in the cluster. */

import { eventually } from '../../test/support/eventually.ts';
import type { ClusterStack } from '../../test/support/kubernetes/cluster-stack.ts';
import { type JobSessions, openJobSessions } from '../../test/support/kubernetes/job-sessions.ts';
import { type BareJob, prepareBareJobs } from '../bare-job.ts';
import { type CancelTimes, heldByLongest } from '../cancel-times.ts';
import { COUNT_SLEEPERS, ENDLESS, type EndlessPlay } from '../endless-plays.ts';
import type { Measurement } from '../measurement.ts';

const BAR_S = 10;
const ROUNDS = 5;
/** What a pod ends with is one kill, however many processes it has. */
const KINDS: EndlessPlay[] = ['sleeping', 'deaf'];
const GONE_MS = 120_000;

export async function measureJobCancel(cluster: ClusterStack, work: Omit<BareJob, 'like'>): Promise<Measurement> {
  const sessions = openJobSessions(cluster);
  const found = new Map<EndlessPlay, CancelTimes[]>();
  for (const kind of KINDS) {
    const times: CancelTimes[] = [];
    for (let index = 0; index < ROUNDS; index += 1) {
      const name = `jc-${kind}-${index}-${Date.now() % 1e6}`;
      const job = await sessions.running(name, kind);
      await untilAtWork(cluster, job, kind);
      // The bare one is made while there is one to be like; both are at rest then.
      const bare = await prepareBareJobs(cluster.namespace, { ...work, like: job });
      const like = await bare.start(`${kind}.yml`);
      await untilAtWork(cluster, like, kind);
      const killed = await timed(async () => {
        await bare.remove(like);
        await sessions.untilGone(like, GONE_MS);
      });
      times.push({ ...(await cancelled(cluster, sessions, name, job)), bare: killed });
    }
    found.set(kind, times);
  }
  return heldByLongest('cancel to Job, pod and Secret gone', `<= ${BAR_S} s`, BAR_S, found);
}

async function cancelled({ stack }: ClusterStack, sessions: JobSessions, name: string, job: string) {
  const started = performance.now();
  const passed = () => (performance.now() - started) / 1000;
  const { status } = await stack.call('POST', `/api/v1/sessions/${name}/cancel`, {});
  if (status !== 202) throw new Error(`cancel of ${name}: ${status}`);
  const [gone, complete] = await Promise.all([
    sessions.untilGone(job, GONE_MS).then(passed),
    stack.untilComplete(name, GONE_MS).then(passed),
  ]);
  return { gone, complete };
}

/** Waits until the tasks in the Job's pod have come to where they sleep. */
async function untilAtWork({ namespace }: ClusterStack, job: string, kind: EndlessPlay): Promise<void> {
  const count = ['exec', `job/${job}`, '--container', 'ansible', '--', '/bin/sh', '-c', COUNT_SLEEPERS];
  await eventually(
    `the tasks of ${job} are at work`,
    async () => Number(await namespace.kubectl(count).catch(() => '0')) >= ENDLESS[kind].sleepers,
    GONE_MS,
  );
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}
