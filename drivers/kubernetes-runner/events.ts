import type { ClusterClient } from '../kubernetes/cluster-client.ts';
import { openSpareReads } from '../kubernetes/spare-reads.ts';
import type { ClusterPaths } from './cluster-paths.ts';
import type { EventObject, JobObject, ListObject, PodObject } from './objects.ts';
import { isSilent } from './silent-trouble.ts';

/** What takes no longer is no trouble, ms. */
const SILENCE_MS = 5_000;
/** How long nobody has to ask about a Job for it to be forgotten, ms. */
const FORGET_MS = 60_000;

/** What the parts of a cluster say of Jobs. */
export interface Events {
  /**
   * What was said of a Job that waits in silence, of its pod where it has one. Null: it does not, has not for long, or events may not
   * be read. Never fails.
   */
  for(job: JobObject, pod: PodObject | null): Promise<readonly EventObject[] | null>;
}

/** Reads events of Jobs that wait although nothing in them says why. */
export function openEvents(client: ClusterClient, paths: ClusterPaths): Events {
  const reads = openSpareReads<ListObject<EventObject>, readonly EventObject[]>(
    client,
    ({ items }) => (items ?? []).map(trimmed),
    [],
  );
  const silent = new Map<string, { since: number; asked: number }>();
  return {
    async for(job, pod) {
      const { name } = job.metadata;
      if (!isSilent(job, pod)) {
        silent.delete(name);
        return null;
      }
      const now = Date.now();
      for (const [other, { asked }] of silent) if (now - asked > FORGET_MS) silent.delete(other);
      const since = silent.get(name)?.since ?? now;
      silent.set(name, { since, asked: now });
      if (now - since < SILENCE_MS) return null;
      const [kind, of] = pod === null ? ['Job', name] : ['Pod', pod.metadata.name];
      return await reads.read(paths.events, { fieldSelector: `involvedObject.kind=${kind},involvedObject.name=${of}` });
    },
  };
}

function trimmed({ metadata, type, reason, message, lastTimestamp, eventTime }: EventObject): EventObject {
  const { name, creationTimestamp } = metadata;
  const born = creationTimestamp === undefined ? {} : { creationTimestamp };
  return JSON.parse(
    JSON.stringify({ metadata: { name, ...born }, type, reason, message, lastTimestamp, eventTime }),
  ) as EventObject;
}
