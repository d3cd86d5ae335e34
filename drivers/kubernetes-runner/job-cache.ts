import { type JobObject, LABELS, type Metadata, type PodObject } from './objects.ts';

/** A Job and its pods as they were told last. */
export interface KnownJob {
  job: JobObject | null;
  pods: Map<string, PodObject>;
}

/** What the watches have told, by the Job's name; only what is shown is kept of an object. */
export interface JobCache {
  get(name: string): KnownJob | undefined;
  putJob(job: JobObject): string;
  dropJob(job: JobObject): string;
  putPod(pod: PodObject): string;
  dropPod(pod: PodObject): string;
  /** Leaves only what a list named; answers the Jobs of which something went. */
  keepJobs(names: ReadonlySet<string>): string[];
  keepPods(names: ReadonlySet<string>): string[];
  clear(): void;
}

export function createJobCache(): JobCache {
  const known = new Map<string, KnownJob>();
  const entry = (name: string): KnownJob => {
    const found = known.get(name) ?? { job: null, pods: new Map<string, PodObject>() };
    known.set(name, found);
    return found;
  };
  const tidy = (name: string) => {
    const found = known.get(name);
    if (found !== undefined && found.job === null && found.pods.size === 0) known.delete(name);
    return name;
  };
  return {
    get: (name) => known.get(name),
    putJob(job) {
      entry(job.metadata.name).job = { metadata: trimmed(job.metadata), ...suspension(job), status: job.status ?? {} };
      return job.metadata.name;
    },
    dropJob({ metadata: { name } }) {
      entry(name).job = null;
      return tidy(name);
    },
    putPod(pod) {
      const name = jobOf(pod);
      const { initContainers, containers, nodeName, nodeSelector, tolerations } = pod.spec ?? {};
      const bare = (list: typeof containers) =>
        list?.map(({ name: own, resources }) => ({ name: own, ...(resources ? { resources } : {}) }));
      const spec = JSON.parse(
        JSON.stringify({
          initContainers: bare(initContainers),
          containers: bare(containers),
          nodeName,
          nodeSelector,
          tolerations,
        }),
      ) as NonNullable<PodObject['spec']>;
      entry(name).pods.set(pod.metadata.name, { metadata: trimmed(pod.metadata), spec, status: pod.status ?? {} });
      return name;
    },
    dropPod(pod) {
      const name = jobOf(pod);
      known.get(name)?.pods.delete(pod.metadata.name);
      return tidy(name);
    },
    keepJobs(names) {
      const gone = [...known].filter(([name, { job }]) => job !== null && !names.has(name)).map(([name]) => name);
      for (const name of gone) {
        entry(name).job = null;
        tidy(name);
      }
      return gone;
    },
    keepPods(names) {
      const changed: string[] = [];
      for (const [name, { pods }] of known) {
        const gone = [...pods.keys()].filter((pod) => !names.has(pod));
        for (const pod of gone) pods.delete(pod);
        if (gone.length > 0) changed.push(tidy(name));
      }
      return changed;
    },
    clear: () => known.clear(),
  };
}

function suspension({ spec }: JobObject): Pick<JobObject, 'spec'> {
  return { spec: { suspend: spec?.suspend === true } };
}

function jobOf({ metadata }: PodObject): string {
  return metadata.labels?.[LABELS.job] ?? '';
}

function trimmed({ name, generation, creationTimestamp, deletionTimestamp, labels }: Metadata): Metadata {
  const session = labels?.[LABELS.session];
  return {
    name,
    ...(generation === undefined ? {} : { generation }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(session === undefined ? {} : { labels: { [LABELS.session]: session } }),
  };
}
