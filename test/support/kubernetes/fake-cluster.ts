import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterJobs, JobView } from '../../../domain/sessions/cluster/cluster-job.ts';

/** Jobs that a test moves by hand. */
export interface FakeCluster extends ClusterJobs {
  /** Names in the order in which things were done: `end NAME`, `release NAME` ... */
  done: string[];
  /** Makes a Job, or changes what is seen of it. */
  put(name: string, more?: Partial<JobView>): void;
  /** Values of the Secrets of Jobs. */
  secrets: Map<string, Record<string, string>>;
  /** What the end of any Job answers as unverified. */
  unverified: string | null;
}

export function fakeCluster(): FakeCluster {
  const jobs = new Map<string, JobView>();
  const gone = (name: string): JobView => ({
    name,
    sessionId: '',
    phase: 'gone',
    reason: '',
    message: '',
    containers: [],
    trouble: null,
  });
  const view = (name: string) => jobs.get(name) ?? gone(name);
  const cluster: FakeCluster = {
    done: [],
    secrets: new Map(),
    unverified: null,
    put: (name, more = {}) => void jobs.set(name, { ...gone(name), phase: 'running', ...jobs.get(name), ...more }),
    start: async ({ name, secret }) => {
      cluster.done.push(`start ${name}`);
      cluster.secrets.set(name, secret);
      cluster.put(name);
      return null;
    },
    view: async (name) => view(name),
    follow: async (name, take, signal) => {
      for (let shown = ''; ; ) {
        const now = JSON.stringify(view(name));
        if (now !== shown && (await take(view(name)))) return;
        shown = now;
        await delay(5, undefined, { signal });
      }
    },
    end: async (name) => {
      cluster.done.push(`end ${name}`);
      if (view(name).phase !== 'gone') cluster.put(name, { phase: 'deleting' });
      return { view: view(name), unverified: cluster.unverified };
    },
    release: async (name) => {
      cluster.done.push(`release ${name}`);
      if (view(name).phase === 'deleting') jobs.delete(name);
    },
    updateSecret: async (name, change) => {
      const now = cluster.secrets.get(name) ?? {};
      const values = { ...now, ...change(now) };
      cluster.secrets.set(name, values);
      return values;
    },
    followLog: async () => undefined,
    // As the real one, without what only pods tell.
    list: async () => [...jobs.values()].map((job) => ({ ...job, containers: [], trouble: null })),
  };
  return cluster;
}
