/** Whether what was last seen of a cluster says how it is now. */
import type { Connectivity } from './connectivity.ts';
import type { Identity } from './manifest-identity.ts';
import type { Why } from './pod-reason.ts';

/** How the watch of one kind on one cluster stands. */
export interface KindState {
  group: string;
  kind: string;
  /** The cluster serves it, and lets it be listed and watched. */
  isSupported: boolean;
  /** Begin of the last list that ended; null: none has. */
  listedAt: Date | null;
  /** Since when it can be neither listed nor watched; null: it is watched. */
  failingSince: Date | null;
  /** Why it is not watched; null: it is, or nothing was said. */
  reason: string | null;
  message: string | null;
}

/** What is known of one cluster. */
export interface ClusterSight {
  kinds: readonly KindState[];
  /** A worker has the watch until then; null: the cluster was never watched. */
  watchedUntil: Date | null;
}

/** Time of applies of which no time is known. */
const LONG_AGO = new Date(0);

/**
 * Returns since when something of a group may be there; null: nothing was sent. A release that noted no time may have applied it.
 * @param wasSent a resource of the group was sent, or was about to be
 */
export function appliedSince(notedAt: Date | null, wasSent: boolean): Date | null {
  return notedAt ?? (wasSent ? LONG_AGO : null);
}

/**
 * Whether a kind has been listed whole since a group was first applied (null: it was not): before, an object that is not seen may be there.
 */
export function isReceived(
  { kinds }: Pick<ClusterSight, 'kinds'>,
  { group, kind }: Pick<Identity, 'group' | 'kind'>,
  appliedAt: Date | null,
): boolean {
  const state = kinds.find((each) => each.group === group && each.kind === kind);
  if (state === undefined || !state.isSupported || state.listedAt === null || appliedAt === null) return false;
  return state.listedAt >= appliedAt;
}

/** Kinds of the group that is asked for, and the time by which something is old. */
type Matters = readonly Pick<Identity, 'group' | 'kind'>[];
interface Times {
  now: Date;
  staleAfterMs: number;
}

/**
 * Whether what was last seen is old: the cluster is unreachable, no worker watches it, or a kind that matters could not be watched for so long.
 * @param matters kinds of the group that is asked for
 */
export function isStale(sight: ClusterSight & { connectivity: Connectivity }, matters: Matters, times: Times): boolean {
  if (sight.connectivity === 'Unreachable' || isOld(sight.watchedUntil, times)) return true;
  return failingKind(sight, matters, times) !== undefined;
}

/** Returns in words what makes the sight of a group stale; empty where the connectivity of its cluster says it, or nothing does. */
export function staleCause(
  sight: ClusterSight & { connectivity: Connectivity },
  matters: Matters,
  times: Times,
): string {
  if (sight.connectivity === 'Unreachable') return '';
  if (isOld(sight.watchedUntil, times)) return 'no worker watches the cluster';
  const failing = failingKind(sight, matters, times);
  if (failing === undefined) return '';
  const why = whyUnwatched(sight, failing);
  const words = why === null ? [] : [why.reason, why.message].filter((word) => word !== '');
  return [`${failing.kind} cannot be watched`, ...words].join(': ');
}

/** Returns why a kind cannot be listed and watched; null where it is, or nothing was said. Of Secrets the reason alone. */
export function whyUnwatched(
  { kinds }: Pick<ClusterSight, 'kinds'>,
  { group, kind }: Pick<Identity, 'group' | 'kind'>,
): Why | null {
  const state = kinds.find((each) => each.group === group && each.kind === kind);
  if (state === undefined || state.reason === null || (state.isSupported && state.failingSince === null)) return null;
  return { reason: state.reason, message: group === '' && kind === 'Secret' ? '' : (state.message ?? '') };
}

function isOld(since: Date | null, { now, staleAfterMs }: Times): boolean {
  return since !== null && now.getTime() - since.getTime() >= staleAfterMs;
}

function failingKind({ kinds }: Pick<ClusterSight, 'kinds'>, matters: Matters, times: Times): KindState | undefined {
  return kinds.find(
    ({ group, kind, isSupported, failingSince }) =>
      isSupported && isOld(failingSince, times) && matters.some((each) => each.group === group && each.kind === kind),
  );
}
