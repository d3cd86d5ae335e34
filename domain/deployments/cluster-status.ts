/** What is there in a cluster of what was applied: manifests and live objects of one app on one cluster, joined. */
import type { Identity } from './manifest-identity.ts';
import type { Members } from './members.ts';
import { byName } from './naming.ts';
import { type Why, WORKLOADS, whyNotReady } from './pod-reason.ts';
import { isBeingDeleted, type ReadyStatus, readinessOf } from './readiness.ts';
import type { RsyncStatus } from './resource-status.ts';

export const CLUSTER_STATUSES = ['Unknown', 'NotPresent', 'Present'] as const;
export type ClusterStatus = (typeof CLUSTER_STATUSES)[number];

export interface RsyncResource {
  key: string;
  identity: Identity;
  status: RsyncStatus;
  reason: string | null;
  message: string | null;
  /** Masked; only where it is shown. */
  manifest?: Members | undefined;
}

export interface LiveResource {
  identity: Identity;
  /** Masked. */
  object: Members;
  /** Whether its label names the AppContext that is asked for. */
  isOwn: boolean;
}

/** One app on one cluster. */
export interface Group {
  resources: readonly RsyncResource[];
  live: readonly LiveResource[];
  /** Whether a kind is listed and watched there, and its first list is whole. */
  isReceived(identity: Identity): boolean;
  /** Nothing was heard for so long that the last known state may be old. */
  isStale: boolean;
  /** Why it is stale, in words; empty where the connectivity says it, or it is not. */
  staleCause: string;
  /** Why a kind is not listed and watched; null where nothing is known. */
  whyUnwatched(identity: Identity): Why | null;
}

export interface Entry {
  identity: Identity;
  /** Only of manifests. */
  key?: string;
  rsyncStatus?: RsyncStatus;
  clusterStatus?: ClusterStatus;
  readyStatus?: ReadyStatus;
  reason?: string;
  message?: string;
  manifest?: Members | undefined;
  object?: Members;
}

/** Kinds in the order in which live objects are shown; others follow by name. */
const KINDS = ['Pod', 'Service', 'Deployment', 'ConfigMap', 'Secret', 'DaemonSet', 'Ingress', 'Job', 'StatefulSet'];

/** Returns the entries of the manifests alone, by key. */
export function rsyncEntries({ resources }: Pick<Group, 'resources'>): Entry[] {
  return resources
    .toSorted((one, other) => byName(one.key, other.key))
    .map(({ key, identity, status, reason, message, manifest }) => ({
      identity,
      key,
      rsyncStatus: status,
      manifest,
      ...said(reason === null ? null : { reason, message: message ?? '' }),
    }));
}

/** Returns the entries of the live objects alone. */
export function liveEntries(group: Group): Entry[] {
  return group.live
    .filter(({ isOwn }) => isOwn)
    .toSorted((one, other) => byKind(one.identity, other.identity))
    .map((live) => ({
      identity: live.identity,
      clusterStatus: 'Present',
      object: live.object,
      ...readyOf(live, group),
    }));
}

/** Returns the manifests with what is there of each, then live objects that no manifest describes. */
export function joinedEntries(group: Group): Entry[] {
  const left = new Map(group.live.map((live) => [idOf(live.identity), live]));
  const joined = rsyncEntries(group).map((entry) => {
    const live = left.get(idOf(entry.identity));
    left.delete(idOf(entry.identity));
    return joinedEntry(entry, live, group);
  });
  const others = liveEntries({ ...group, live: [...left.values()] });
  const byKindName = (one: Entry, other: Entry) =>
    byName(one.identity.kind, other.identity.kind) || byName(one.identity.name, other.identity.name);
  return [...joined, ...others.toSorted(byKindName)];
}

function joinedEntry(entry: Entry, live: LiveResource | undefined, group: Group): Entry {
  const seen = seenOf(entry, live, group);
  // A fault of the synchroniser comes before what the object says.
  const isSettled = entry.rsyncStatus === 'Applied' || entry.rsyncStatus === 'Deleted';
  const { reason, message, ...rest } = entry;
  const own = reason === undefined ? {} : { reason, ...(message === undefined ? {} : { message }) };
  const { reason: seenReason, message: seenMessage, ...states } = seen;
  const words = said(seenReason === undefined ? null : { reason: seenReason, message: seenMessage ?? '' });
  return {
    ...rest,
    ...states,
    ...(isSettled && seenReason !== undefined ? words : reason === undefined ? words : own),
  };
}

function seenOf(entry: Entry, live: LiveResource | undefined, group: Group): Partial<Entry> {
  if (!group.isReceived(entry.identity)) {
    // What was not applied is not missed yet, whatever the cluster says of its kind.
    const why = entry.rsyncStatus === 'Applied' ? group.whyUnwatched(entry.identity) : null;
    return { clusterStatus: 'Unknown', readyStatus: 'Unknown', ...(group.isStale ? stale(group) : said(why)) };
  }
  const status: ClusterStatus = live?.isOwn ? 'Present' : 'NotPresent';
  if (live?.isOwn) return { clusterStatus: status, object: live.object, ...readyOf(live, group) };
  if (group.isStale) return { clusterStatus: status, readyStatus: 'Unknown', ...stale(group) };
  const lost = live !== undefined ? 'NotOwned' : entry.rsyncStatus === 'Applied' ? 'DeletedOutside' : undefined;
  return { clusterStatus: status, readyStatus: 'NotReady', ...(lost === undefined ? {} : { reason: lost }) };
}

function stale({ staleCause }: Group): Partial<Entry> {
  return said({ reason: 'Stale', message: staleCause });
}

function readyOf({ identity, object }: LiveResource, group: Group): Partial<Entry> {
  if (group.isStale) return { readyStatus: 'Unknown', ...stale(group) };
  const readyStatus = readinessOf(identity.group, identity.kind, object);
  if (readyStatus === 'Ready') return { readyStatus };
  if (isBeingDeleted(object)) return { readyStatus, reason: 'Terminating' };
  if (!WORKLOADS.includes(identity.kind)) return { readyStatus };
  const pods = group.live.filter((other) => other.isOwn && other.identity.kind === 'Pod').map((pod) => pod.object);
  return { readyStatus, ...said(whyNotReady({ kind: identity.kind, ...object }, pods)) };
}

function said(why: Why | null): Partial<Entry> {
  if (why === null) return {};
  return why.message === '' ? { reason: why.reason } : why;
}

function byKind(one: Identity, other: Identity): number {
  const place = ({ kind }: Identity) => (KINDS.includes(kind) ? KINDS.indexOf(kind) : KINDS.length);
  return place(one) - place(other) || byName(one.kind, other.kind) || byName(one.name, other.name);
}

/** Returns what tells an object from all others: versions of an API name the same object. */
export function idOf({ group, kind, namespace, name }: Identity): string {
  return [group, kind, namespace, name].join('/');
}
