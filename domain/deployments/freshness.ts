/** Whether what was last seen of a cluster says how it is now. */
import type { Connectivity } from './connectivity.ts';
import type { Identity } from './manifest-identity.ts';

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

/**
 * Whether what was last seen is old: the cluster is unreachable, no worker watches it, or a kind that matters could not be watched for so long.
 * @param matters kinds of the group that is asked for
 */
export function isStale(
  { kinds, watchedUntil, connectivity }: ClusterSight & { connectivity: Connectivity },
  matters: readonly Pick<Identity, 'group' | 'kind'>[],
  { now, staleAfterMs }: { now: Date; staleAfterMs: number },
): boolean {
  if (connectivity === 'Unreachable') return true;
  const isOld = (since: Date | null) => since !== null && now.getTime() - since.getTime() >= staleAfterMs;
  if (isOld(watchedUntil)) return true;
  return kinds.some(
    ({ group, kind, isSupported, failingSince }) =>
      isSupported && isOld(failingSince) && matters.some((each) => each.group === group && each.kind === kind),
  );
}
