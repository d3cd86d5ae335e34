import { setTimeout as delay } from 'node:timers/promises';
import { isMusterError, musterError } from '../../domain/errors.ts';
import type { JobView } from '../../domain/sessions/cluster/cluster-job.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import type { ClusterClient } from '../kubernetes/cluster-client.ts';
import { WATCH_SECONDS, type WatchEvent, watchOnce } from '../kubernetes/watch-stream.ts';
import type { ClusterPaths } from './cluster-paths.ts';
import type { Events } from './events.ts';
import { createJobCache } from './job-cache.ts';
import { jobView, latestOf } from './job-view.ts';
import type { Nodes } from './nodes.ts';
import { type JobObject, type PodObject, UNRELEASED } from './objects.ts';
import { readAll, readView } from './read-jobs.ts';

/** How often everything is read again though a watch has told nothing, ms. */
const POLL_MS = 120_000;
const PAUSE_MIN_MS = 250;
const PAUSE_MAX_MS = 4_000;

/** How long it takes to notice what no watch tells. */
export interface WatchPatience {
  /** A follower is told of a cluster that is away after so long, ms. */
  awayMs: number;
  /** How often nodes are looked at beside what the watches tell, ms. */
  lookMs: number;
  /** The cluster ends a watch after so long, s. */
  watchSeconds: number;
}

const PATIENCE: WatchPatience = { awayMs: 30_000, lookMs: 10_000, watchSeconds: WATCH_SECONDS };

/** Follows Jobs with one watch for all of them. */
export interface JobWatch {
  /** As `ClusterJobs.follow`. Throws `cluster_unavailable` when the cluster has been away for too long. */
  follow(name: string, take: (view: JobView) => Promise<boolean>, signal: AbortSignal): Promise<void>;
}

interface Kind<T> {
  path: string;
  put(item: T): string;
  drop(item: T): string;
  keep(names: ReadonlySet<string>): string[];
}

/**
 * One watch of Jobs and one of their pods serve all who follow in this process. They run while somebody does; each ends within
 * seconds, tells its version by that and goes on from it, so one that has stalled is noticed, and a history that the cluster has
 * dropped is read anew.
 */
export function createJobWatch(
  client: ClusterClient,
  paths: ClusterPaths,
  { nodes, events }: { nodes: Nodes; events: Events },
  { awayMs, lookMs, watchSeconds }: WatchPatience = PATIENCE,
): JobWatch {
  const cache = createJobCache();
  const followers = new Map<string, Set<() => void>>();
  let stop: AbortController | null = null;
  const away = new Map<string, { since: number; words: string }>();

  const wake = (name: string) => {
    for (const call of followers.get(name) ?? []) call();
  };
  const wakeAll = () => {
    for (const name of followers.keys()) wake(name);
  };

  const jobs: Kind<JobObject> = { path: paths.jobs, put: cache.putJob, drop: cache.dropJob, keep: cache.keepJobs };
  const pods: Kind<PodObject> = { path: paths.pods, put: cache.putPod, drop: cache.dropPod, keep: cache.keepPods };

  const list = async <T extends { metadata: { name: string } }>(
    { path, put, keep }: Kind<T>,
    signal: AbortSignal,
  ): Promise<string> => {
    const names = new Set<string>();
    const version = await readAll<T>(client, path, UNRELEASED, (item) => {
      // What a list of before tells would stand beside what the next watch knows better.
      signal.throwIfAborted();
      names.add(item.metadata.name);
      wake(put(item));
    });
    signal.throwIfAborted();
    for (const name of keep(names)) wake(name);
    return version;
  };

  const run = async <T extends { metadata: { name: string } }>(kind: Kind<T>, signal: AbortSignal): Promise<void> => {
    let version: string | null = null;
    let listed = 0;
    let pause = PAUSE_MIN_MS;
    const take = ({ type, object }: WatchEvent<T>) => wake(type === 'DELETED' ? kind.drop(object) : kind.put(object));
    while (!signal.aborted) {
      try {
        if (version === null || Date.now() - listed > POLL_MS) {
          version = await list(kind, signal);
          listed = Date.now();
        }
        const watch = { path: kind.path, labelSelector: UNRELEASED, version, seconds: watchSeconds };
        const told = (next: string) => {
          version = next;
          away.delete(kind.path);
        };
        if ((await watchOnce<T>(client, watch, take, told, signal)) === 'relist') version = null;
        away.delete(kind.path);
        pause = PAUSE_MIN_MS;
      } catch (error) {
        if (signal.aborted) return;
        const words = messageOf(error);
        const since = away.get(kind.path)?.since ?? Date.now();
        away.set(kind.path, { since, words });
        wakeAll();
        await delay(pause, undefined, { signal }).catch(() => {});
        pause = Math.min(pause * 2, PAUSE_MAX_MS);
      }
    }
  };

  const look = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await delay(lookMs, undefined, { signal }).catch(() => {});
      wakeAll();
    }
  };

  /** Counts a follower in; the watches begin with the first and end with the last. */
  const join = (name: string, call: () => void): (() => void) => {
    const mine = followers.get(name) ?? new Set();
    followers.set(name, mine.add(call));
    if (stop === null) {
      stop = new AbortController();
      for (const task of [run(jobs, stop.signal), run(pods, stop.signal), look(stop.signal)]) task.catch(() => {});
    }
    return () => {
      mine.delete(call);
      if (mine.size === 0) followers.delete(name);
      if (followers.size > 0) return;
      stop?.abort();
      stop = null;
      cache.clear();
      away.clear();
    };
  };

  const current = async (name: string): Promise<JobView> => {
    const known = cache.get(name);
    // Not known to the watch yet, or no longer.
    if (known === undefined || known.job === null) return await readView(client, paths, nodes, name);
    const its = [...known.pods.values()];
    const pod = latestOf(its);
    return jobView(known.job, its, await nodes.for(pod), await events.for(known.job, pod));
  };

  return {
    async follow(name, take, signal) {
      let changed = Promise.withResolvers<void>();
      const call = () => changed.resolve();
      const leave = join(name, call);
      signal.addEventListener('abort', call);
      try {
        let last = '';
        for (;;) {
          signal.throwIfAborted();
          changed = Promise.withResolvers<void>();
          const view = await current(name).catch((error: unknown) => {
            if (isMusterError(error)) return null;
            throw error;
          });
          const text = JSON.stringify(view);
          if (view !== null && text !== last) {
            last = text;
            if (await take(view)) return;
          }
          const gone = [...away.values()].find(({ since }) => Date.now() - since > awayMs);
          if (gone !== undefined) throw musterError('cluster_unavailable', gone.words);
          await changed.promise;
        }
      } finally {
        signal.removeEventListener('abort', call);
        leave();
      }
    },
  };
}
