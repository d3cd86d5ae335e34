/**
 * Watches one member cluster: the kinds that AppContexts bring to it, and Pods and Jobs. The set follows the AppContexts, and the credential that
 * which is stored. Another worker may take the watch at any time: then nothing more is written.
 */
import { setTimeout as rest } from 'node:timers/promises';
import { clusterName } from '../../domain/deployments/naming.ts';
import type { MemberClusters, ReadKubeconfig } from '../../domain/deployments/ports.ts';
import { type AppliedKind, watchedKinds } from '../../domain/deployments/snapshot.ts';
import { isMusterError } from '../../domain/errors.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { findSealedCredential } from '../../store/deployments/clusters.ts';
import { forgetKind, listKinds, noteFailing, WatchLost } from '../../store/deployments/snapshots.ts';
import { listAppliedKinds, type WatchLease } from '../../store/deployments/watches.ts';
import type { Seal } from '../sealing/seal.ts';
import { placeOf } from './cluster-seal.ts';
import { type WatchDependencies, watchKind } from './watch-kind.ts';

export interface ClusterWatchDependencies extends WatchDependencies {
  clusterSeal: Seal;
  readKubeconfig: ReadKubeconfig;
  memberClusters: MemberClusters;
}

/** Time between two looks at what is to be watched, ms. */
export const LOOK_MS = 2_000;

type Credential = Awaited<ReturnType<ReadKubeconfig>>['credential'];

interface Running {
  version: string;
  end: AbortController;
  done: Promise<void>;
  /** Begin of the last list that ended, or time at which the kind was not served; null: neither yet. */
  lookedAt: Date | null;
}

/** Watches a cluster until the signal. Throws `WatchLost` when another worker has the watch. */
export async function watchCluster(
  deps: ClusterWatchDependencies,
  lease: WatchLease,
  signal: AbortSignal,
): Promise<void> {
  const running = new Map<string, Running>();
  const lost = new AbortController();
  const either = AbortSignal.any([signal, lost.signal]);
  let opened: { revision: number; credential: Credential } | null = null;
  try {
    while (!either.aborted) {
      try {
        const wanted = watchedKinds(await listAppliedKinds(deps.db, lease));
        const stored = await findSealedCredential(deps.db, lease);
        if (stored !== null && stored.revision !== opened?.revision) {
          await endAll(running);
          opened = await open(deps, lease, stored, wanted);
        }
        if (opened !== null)
          await follow(deps, lease, { wanted, running, credential: opened.credential, lost }, either);
      } catch (error) {
        if (error instanceof WatchLost) throw error;
        deps.log.warn({ cluster: clusterName(lease), err: messageOf(error) }, 'a cluster cannot be watched now');
      }
      await rest(LOOK_MS, undefined, { signal: either }).catch(() => undefined);
    }
    if (lost.signal.aborted && !signal.aborted) throw new WatchLost(`another worker watches ${clusterName(lease)}`);
  } finally {
    await endAll(running);
  }
}

/** Returns the credential; null where it cannot be used now: its kinds are on record as failing. */
async function open(
  { db, clock, clusterSeal, readKubeconfig }: ClusterWatchDependencies,
  lease: WatchLease,
  { kubeconfig, revision }: { kubeconfig: Buffer; revision: number },
  wanted: readonly AppliedKind[],
): Promise<{ revision: number; credential: Credential } | null> {
  try {
    const { credential } = await readKubeconfig(await clusterSeal.open(kubeconfig, placeOf(lease)));
    return { revision, credential };
  } catch (error) {
    if (!isMusterError(error)) throw error;
    const reason = error.code === 'cluster_address_not_allowed' ? 'AddressNotAllowed' : 'CredentialUnreadable';
    for (const kind of wanted) await noteFailing(db, lease, kind, { reason, message: error.detail, now: clock() });
    return null;
  }
}

interface Work {
  wanted: readonly AppliedKind[];
  running: Map<string, Running>;
  credential: Credential;
  /** Aborted when another worker has the watch. */
  lost: AbortController;
}

/** Begins and ends watches of kinds, so that those that are wanted run. */
async function follow(
  deps: ClusterWatchDependencies,
  lease: WatchLease,
  { wanted, running, credential, lost }: Work,
  signal: AbortSignal,
): Promise<void> {
  const keys = new Set(wanted.map(keyOf));
  for (const kind of await listKinds(deps.db, lease)) {
    if (keys.has(keyOf(kind))) continue;
    await end(running, keyOf(kind));
    await forgetKind(deps.db, lease, kind);
  }
  for (const kind of wanted) {
    const key = keyOf(kind);
    const known = running.get(key);
    if (known !== undefined && known.version === kind.version && !isOlder(known, kind)) continue;
    await end(running, key);
    running.set(key, begin(kind));
  }

  function begin(kind: AppliedKind): Running {
    const own = new AbortController();
    const started: Running = { version: kind.version, end: own, lookedAt: null, done: Promise.resolve() };
    const work = {
      ...{ lease, kind, member: () => deps.memberClusters.openMember(credential) },
      looked: (askedAt: Date) => {
        started.lookedAt = askedAt;
      },
    };
    started.done = watchKind(deps, work, AbortSignal.any([signal, own.signal])).catch((error) => {
      if (!(error instanceof WatchLost)) {
        deps.log.warn({ cluster: clusterName(lease), kind: kind.kind, err: messageOf(error) }, 'a watch has ended');
      }
      lost.abort();
    });
    return started;
  }
}

/** A group was applied since: a list that begins now tells whether its objects are there, or what it brings defines the kind. */
function isOlder({ lookedAt }: Running, { appliedAt }: AppliedKind): boolean {
  return lookedAt !== null && appliedAt !== null && lookedAt < appliedAt;
}

async function end(running: Map<string, Running>, key: string): Promise<void> {
  const known = running.get(key);
  running.delete(key);
  known?.end.abort();
  await known?.done;
}

async function endAll(running: Map<string, Running>): Promise<void> {
  await Promise.all([...running.keys()].map((key) => end(running, key)));
}

function keyOf({ group, kind }: { group: string; kind: string }): string {
  return `${group}/${kind}`;
}
