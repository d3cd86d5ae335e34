import { openClusterAccess } from '../../../drivers/kubernetes/cluster-access.ts';
import { type ClusterClient, createClusterClient } from '../../../drivers/kubernetes/cluster-client.ts';
import { clusterPaths } from '../../../drivers/kubernetes-runner/cluster-paths.ts';
import type { ListObject, Metadata, PodObject } from '../../../drivers/kubernetes-runner/objects.ts';
import { readPods } from '../../../drivers/kubernetes-runner/read-jobs.ts';
import { eventually } from '../eventually.ts';
import type { ClusterStack } from './cluster-stack.ts';
import { kubeconfigPath } from './dev-cluster.ts';

const START_LIMIT_MS = 240_000;
const RELEASE_LIMIT_MS = 180_000;

/** Sessions of a stack that run as Jobs, and what is seen of those in the cluster. */
export interface JobSessions {
  /** Creates a session and waits until Ansible runs in its pod; answers the name of its Job. */
  running(name: string, configuration: string, more?: object): Promise<string>;
  /** The name of its Job, once it has one. */
  jobOf(name: string): Promise<string>;
  pods(job: string): Promise<PodObject[]>;
  /** Waits for the end of a session and until none of its containers runs; it has to be as `expected`. */
  ended(name: string, withinMs?: number): Promise<{ succeeded: string; message: string; reason: string | null }>;
  /** Waits until Job, pod and Secret are gone. */
  untilGone(job: string, withinMs?: number): Promise<void>;
  /** Waits until neither the Job nor its pods are kept for Muster. */
  untilReleased(job: string): Promise<void>;
  /** Starts the clean-up of each minute now. */
  sweep(): Promise<void>;
}

/** Opens the view on a stack's namespace; it does not go through what the stack's own way to the cluster is. */
export function openJobSessions({ stack, namespace }: ClusterStack): JobSessions {
  const client: ClusterClient = createClusterClient(openClusterAccess(kubeconfigPath()));
  const paths = clusterPaths(namespace.name);
  const pods = (job: string) => readPods(client, paths, job);
  const names = async (path: string): Promise<Metadata[]> => {
    const { body } = await client.ask<ListObject<{ metadata: Metadata }>>({ method: 'GET', path });
    return (body.items ?? []).map(({ metadata }) => metadata);
  };
  const jobOf = (name: string) =>
    eventually(
      `session ${name} has a Job`,
      async () => {
        const { body } = await stack.call('GET', `/v3/sessions/${name}`);
        return (body.status?.session?.job as string | null | undefined) ?? null;
      },
      START_LIMIT_MS,
    );
  return {
    jobOf,
    pods,
    async running(name, configuration, more = {}) {
      await stack.create(name, configuration, more);
      const job = await jobOf(name);
      await eventually('Ansible runs in its pod', async () => (await pods(job)).some(runsAnsible), START_LIMIT_MS);
      return job;
    },
    async ended(name, withinMs = START_LIMIT_MS) {
      const session = await stack.untilComplete(name, withinMs).catch(async (error: Error) => {
        const { status, phase } = await stack.session(name);
        throw new Error(`${error.message}; phase ${phase}: ${JSON.stringify(status.session)}`);
      });
      const { succeeded, message } = session.status.session;
      return { succeeded, message, reason: session.reason?.code ?? null };
    },
    async untilGone(job, withinMs = RELEASE_LIMIT_MS) {
      const left = async () => {
        const all = await Promise.all([paths.jobs, paths.pods, paths.secrets].map(names));
        return all.flat().filter(({ name }) => name.startsWith(job));
      };
      await eventually(`nothing of ${job} is left`, async () => (await left()).length === 0, withinMs, left);
    },
    async untilReleased(job) {
      const isReleased = async () => {
        const all = await Promise.all([paths.jobs, paths.pods].map(names));
        const its = all.flat().filter(({ name }) => name.startsWith(job));
        return its.every(({ finalizers = [] }) => !finalizers.some((one) => one.startsWith('muster/')));
      };
      // What a busy node had not ended in time is left to the clean-up of each minute.
      await eventually(`${job} is released`, isReleased, RELEASE_LIMIT_MS);
    },
    sweep: () => stack.temporal((temporal) => temporal.schedule.getHandle('muster-sweep').trigger()),
  };
}

function runsAnsible({ status }: PodObject): boolean {
  return (status?.containerStatuses ?? []).some(
    ({ name, state }) => name === 'ansible' && state?.running !== undefined,
  );
}
