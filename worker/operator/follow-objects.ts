/** Watches the kinds of an operator, in one process at a time, and stores what is told. */
import { setTimeout as delay } from 'node:timers/promises';
import { noteObjects } from '../../control/operator/note-objects.ts';
import type { HashedEntry, OperatorSite } from '../../control/operator/operator-site.ts';
import type { WatchState } from '../../domain/operator/resource-words.ts';
import type { WatchSigns } from '../../domain/operator/watch-signs.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { type ClusterClient, isForbidden } from '../../drivers/kubernetes/cluster-client.ts';
import type { Discovery } from '../../drivers/operator-watch/discovery.ts';
import { type Told, watchEntry } from '../../drivers/operator-watch/metadata-watch.ts';
import { noteWatchState, releaseWatchLock, takeWatchLock } from '../../store/operator/operators.ts';
import type { DependentsFollowed } from './follow-dependents.ts';

/** The lease of the process that watches (ms), how often it is renewed, and how long a successor waits beyond it. */
const LEASE_MS = 15_000;
const RENEW_MS = 5_000;
const GRACE_MS = 20_000;
/** Between two tries to store what was told (ms); what comes meanwhile goes with it. */
const STORE_MS = 50;
const AGAIN_MS = 1_000;

export interface FollowObjects {
  site: OperatorSite;
  client: ClusterClient;
  discovery: Discovery;
  namespaces: readonly string[] | null;
  dependents: DependentsFollowed;
  signs: WatchSigns;
}

export interface ObjectsFollowed {
  /** Whether this process watches, its cluster has answered, and each entry was listed or has its reason; or another process watches. */
  isReady(): boolean;
  /** Returns how many of the entries are in each state, as far as this process watches them. */
  states(): Map<WatchState, number>;
  /** Whether this process is the one that watches. */
  isWatching(): boolean;
  stop(): Promise<void>;
}

/** Begins to watch as soon as this process has the lock of the operator. */
export function followObjects(deps: FollowObjects): ObjectsFollowed {
  const { site } = deps;
  const ended = new AbortController();
  const told = new Map<HashedEntry, WatchState>();
  // Without entries nothing is asked of the cluster.
  let isReached = site.entries.length === 0;
  const discovery: Discovery = {
    ...deps.discovery,
    find: async (kind) => {
      try {
        const found = await deps.discovery.find(kind);
        isReached = true;
        return found;
      } catch (error) {
        // A refusal is an answer.
        if (isForbidden(error)) isReached = true;
        throw error;
      }
    },
  };
  let role: 'unknown' | 'waits' | 'watches' = 'unknown';
  let watching: { stop: AbortController; done: Promise<unknown>; until: number } | null = null;
  const begin = () => {
    const stop = new AbortController();
    const work = site.entries.map((hashed) => followEntry({ ...deps, discovery }, hashed, stop.signal, told));
    const dependents = deps.dependents.watch(site, deps, stop.signal);
    watching = { stop, done: Promise.all([...work, dependents]), until: Date.now() + LEASE_MS };
    role = 'watches';
  };
  const cease = async () => {
    const before = watching;
    watching = null;
    role = 'waits';
    before?.stop.abort();
    await before?.done;
  };
  const me = { operator: site.operator, machine: site.hostId };
  const keep = async () => {
    while (!ended.signal.aborted) {
      try {
        const has = await takeWatchLock(site.db, me, { leaseMs: LEASE_MS, graceMs: GRACE_MS }, site.clock());
        if (has && watching === null) begin();
        else if (has && watching !== null) watching.until = Date.now() + LEASE_MS;
        else if (!has) await cease();
      } catch (error) {
        site.log.warn({ err: messageOf(error) }, 'the lock of the operator could not be renewed');
        if (watching !== null && Date.now() > watching.until) await cease();
      }
      await delay(RENEW_MS, undefined, { signal: ended.signal }).catch(() => undefined);
    }
  };
  const keeping = keep();
  return {
    isReady: () => role === 'waits' || (role === 'watches' && isReached && told.size === site.entries.length),
    states: () => {
      const counts = new Map<WatchState, number>();
      if (role === 'watches') for (const state of told.values()) counts.set(state, (counts.get(state) ?? 0) + 1);
      return counts;
    },
    isWatching: () => role === 'watches',
    stop: async () => {
      ended.abort();
      await keeping;
      await cease();
      await releaseWatchLock(site.db, me).catch(() => undefined);
    },
  };
}

/** Watches one entry. What cannot be stored for now is stored later, in order, and the newest of each object alone. */
async function followEntry(
  { site, client, discovery, namespaces, signs }: FollowObjects,
  hashed: HashedEntry,
  signal: AbortSignal,
  told: Map<HashedEntry, WatchState>,
): Promise<void> {
  const { entry } = hashed;
  let pending: Told[] = [];
  let state: Parameters<typeof noteWatchState>[2] | null = null;
  let reason: string | null = null;
  let isStateStored = true;
  const storing = async () => {
    while (!signal.aborted) {
      const batch = pending;
      try {
        if (batch.length > 0) {
          for (const one of merged(batch)) await noteObjects(site, hashed, one);
          pending = pending.slice(batch.length);
        }
        if (!isStateStored && state !== null && pending.length === 0) {
          isStateStored = true;
          const stored = state;
          await noteWatchState(site.db, { operator: site.operator, ...entry }, stored, reason, site.clock());
          told.set(hashed, stored);
        }
        await delay(STORE_MS, undefined, { signal }).catch(() => undefined);
      } catch (error) {
        isStateStored = false;
        site.log.warn(
          { kind: entry.kind, err: messageOf(error) },
          'what happened to resources could not be stored; it is stored again',
        );
        await delay(AGAIN_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  };
  const watching = watchEntry(
    {
      entry,
      client,
      discovery,
      namespaces,
      signs,
      take: (one) => {
        pending = [...pending, one];
        site.meters.seen(entry, one.objects);
        site.meters.gone(entry, one.gone);
      },
      tellState: (now, why) => {
        if (state === now && reason === why) return;
        [state, reason, isStateStored] = [now, why, false];
        if (now !== 'watching') site.log.warn({ kind: entry.kind, state: now, reason: why }, 'a kind is not watched');
      },
    },
    signal,
  );
  await Promise.all([watching, storing()]);
}

/** Joins what was told in a row: of each object the newest, and a list of all objects begins anew. */
function merged(batch: readonly Told[]): Told[] {
  const joined: Told[] = [];
  for (const told of batch) {
    const last = joined.at(-1);
    if (last === undefined || last.isComplete || told.isComplete) {
      joined.push(told);
      continue;
    }
    const uids = new Set(told.objects.map(({ uid }) => uid));
    joined[joined.length - 1] = {
      ...last,
      objects: [...last.objects.filter(({ uid }) => !uids.has(uid)), ...told.objects],
      // What the selector takes again was never gone.
      gone: [...last.gone.filter((uid) => !uids.has(uid)), ...told.gone],
    };
  }
  return joined;
}
