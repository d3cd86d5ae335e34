import { setTimeout as delay } from 'node:timers/promises';
import { isMusterError } from '../../domain/errors.ts';
import type { LogReading } from '../../domain/sessions/cluster/cluster-job.ts';
import { isJobOver } from '../../domain/sessions/cluster/job-outcome.ts';
import { type ClusterClient, isForbidden } from '../kubernetes/cluster-client.ts';
import type { ClusterPaths } from './cluster-paths.ts';
import { jobView, latestOf } from './job-view.ts';
import { logMask } from './log-mask.ts';
import { createLogPosition, isLog, type LogPart, type LogPosition } from './log-position.ts';
import type { ContainerStatus, JobObject, PodObject } from './objects.ts';
import { readJob, readPods } from './read-jobs.ts';

/** A log that says nothing is asked for again after so long: it may have lost its cluster, ms. */
const SILENT_MS = 15_000;
const LOOK_MS = 1_000;
/** The same where a node has not given it for long, ms. */
const SELDOM_MS = 5_000;
/** How long a cluster that is away is tried, ms; a node may be away for longer while its container works. */
const AWAY_MS = 60_000;
const THROWN_AWAY = 'its node has thrown it away with its container, maybe before all of it was read';

/** What became of a reading: it got to where it was to, the connection was cut, or the node has no log any more. */
type Reading = 'done' | 'cut' | 'thrown away';

export interface LogRequest extends LogReading {
  /** Name of the Job. */
  name: string;
  container: string;
}

/**
 * Hands over a container's log as Kubernetes keeps it, from a byte on until the container has ended. A connection that was
 * cut is taken up again by the time of the last line, so no byte is lost or told twice. What a node throws away before it was
 * read is lost: it keeps the latest 10 MiB of a container for reading unless it is set up otherwise, and `from` counts what was read.
 * Secrets of the session are masked in the text, so it may be longer or shorter than the bytes it stands for.
 */
export async function followLog(
  client: ClusterClient,
  paths: ClusterPaths,
  { name, container, from, onCurrent, ...known }: LogRequest,
  take: (part: LogPart) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const position = createLogPosition(from);
  let mask: ((text: string) => string) | null = null;
  let awaySince: number | null = null;
  /** Whether the cluster has just said that the container works: then it is its node that does not give the log, for the moment. */
  let works = false;
  /** Whether what comes from now on is waited for. */
  let isCurrent = onCurrent === undefined;
  /** Whether it was followed to the end of its container: the node may have thrown it away since. */
  let isWhole = false;
  const current = () => {
    if (!isCurrent) onCurrent?.();
    isCurrent = true;
  };
  while (!signal.aborted) {
    try {
      works = false;
      // The Job first: its pods were there before it could say that it has ended.
      const job = await readJob(client, paths, name);
      const pod = latestOf(await readPods(client, paths, name));
      const state = pod === null ? stateWithoutPod(job) : stateOf(pod, container);
      if (state === 'gone') return;
      works = state !== 'terminated';
      if (pod !== null && state !== 'waiting') {
        const ended = state === 'terminated';
        mask ??= await logMask(client, paths, name, known);
        const masked = masking(mask, take);
        const until = ended ? 'end' : isCurrent ? 'cut' : 'now';
        const read = await readLog(client, paths.log(pod.metadata.name), container, until, position, masked, signal);
        if (ended && read === 'thrown away' && !isWhole) throw new Error(THROWN_AWAY);
        if (ended && read !== 'cut') return;
        if (read !== 'thrown away') isWhole = until === 'cut' && read === 'done';
        else await delay(LOOK_MS, undefined, { signal });
        if (read !== 'cut') current();
      }
      awaySince = null;
      if (state === 'waiting') current();
      if (state === 'waiting') await delay(LOOK_MS, undefined, { signal });
    } catch (error) {
      if (signal.aborted) return;
      if (!isAway(error)) throw error;
      awaySince ??= Date.now();
      const isLong = Date.now() - awaySince > AWAY_MS;
      if (isLong && (!works || isForbidden(error))) throw error;
      await delay(isLong ? SELDOM_MS : LOOK_MS, undefined, { signal }).catch(() => {});
    }
  }
}

function masking(mask: (text: string) => string, take: (part: LogPart) => Promise<void>): typeof take {
  return (part) => take({ ...part, text: mask(part.text) });
}

/**
 * Reads on from the position to the end of a log that is over, to where it is now, or until the connection of one that goes on is cut;
 * whether it got there.
 */
async function readLog(
  client: ClusterClient,
  path: string,
  container: string,
  until: 'end' | 'now' | 'cut',
  position: LogPosition,
  take: (part: LogPart) => Promise<void>,
  signal: AbortSignal,
): Promise<Reading> {
  const reading = new AbortController();
  const stop = () => reading.abort();
  signal.addEventListener('abort', stop, { once: true });
  let timer = setTimeout(stop, SILENT_MS);
  let isOpen = false;
  const since = position.since();
  const query = {
    container,
    timestamps: 'true',
    ...(until === 'cut' ? { follow: 'true' } : {}),
    ...(since === null ? {} : { sinceTime: since }),
  };
  try {
    const answer = await client.open(path, query, reading.signal);
    isOpen = true;
    position.restart();
    let isFirst = true;
    for await (const chunk of answer) {
      clearTimeout(timer);
      if (isFirst && !isLog(chunk)) return 'thrown away';
      isFirst = false;
      for (const part of position.take(chunk)) await take(part);
      timer = setTimeout(stop, SILENT_MS);
    }
    if (until === 'end') for (const part of position.finish()) await take(part);
    return 'done';
  } catch (error) {
    // Cut, or silent: what was whole was handed over.
    if (isOpen && isAway(error) && !signal.aborted) return 'cut';
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    reading.abort();
  }
}

function isAway(error: unknown): boolean {
  return isMusterError(error) && error.code === 'cluster_unavailable';
}

/** A Job that has begun has no pod for a moment. */
function stateWithoutPod(job: JobObject | null): 'waiting' | 'gone' {
  return job === null || isJobOver(jobView(job, [], null)) ? 'gone' : 'waiting';
}

function stateOf({ status }: PodObject, container: string): 'waiting' | 'running' | 'terminated' | 'gone' {
  const statuses: ContainerStatus[] = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const state = statuses.find(({ name }) => name === container)?.state;
  if (state?.terminated !== undefined) return 'terminated';
  if (state?.running !== undefined) return 'running';
  return status?.phase === 'Failed' || status?.phase === 'Succeeded' ? 'gone' : 'waiting';
}
