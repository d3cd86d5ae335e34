/** The answer to a status query. Members that are empty are left out. */
import {
  CLUSTER_STATUSES,
  type Entry,
  type Group,
  joinedEntries,
  liveEntries,
  rsyncEntries,
} from './cluster-status.ts';
import type { Connectivity } from './connectivity.ts';
import type { ContextState } from './context-state.ts';
import { type Counts, countBy, shownCounts } from './counting.ts';
import type { StateAction } from './history.ts';
import { type Members, membersOf } from './members.ts';
import { type ClusterRef, clusterName } from './naming.ts';
import { READY_STATUSES } from './readiness.ts';
import { RSYNC_STATUSES } from './resource-status.ts';
import type { StatusQuery } from './status-query.ts';

/** Names of the object, as the answer has them. */
export type StatusNames = Readonly<Record<string, string>>;

export interface StatusHead {
  names: StatusNames;
  state: string;
  actions: readonly StateAction<string>[];
  /** Null: no AppContext is asked for. */
  status: ContextState | null;
}

export interface AppOnCluster extends Group, ClusterRef {
  app: string;
  connectivity: Connectivity;
  lastSeen: string | null;
}

/** One app on one cluster, with what of it is asked for. */
export interface KeptGroup {
  group: AppOnCluster;
  entries: readonly Entry[];
}

/** Returns what a query keeps of the groups, in their order: apps as in the composite app, clusters by name. */
export function keptGroups(groups: readonly AppOnCluster[], query: StatusQuery): KeptGroup[] {
  const apps = [...new Set(groups.map(({ app }) => app))];
  const clusters = new Set(query.clusters.map(clusterName));
  return groups
    .filter(({ app }) => query.apps.length === 0 || query.apps.includes(app))
    .filter((group) => clusters.size === 0 || clusters.has(clusterName(group)))
    .toSorted(
      (one, other) =>
        apps.indexOf(one.app) - apps.indexOf(other.app) || (clusterName(one) < clusterName(other) ? -1 : 1),
    )
    .map((group) => ({ group, entries: entriesOf(group, query).filter((entry) => isKept(entry, query)) }))
    .filter(({ entries }) => entries.length > 0);
}

/** Returns the whole answer. */
export function statusAnswer(head: StatusHead, groups: readonly AppOnCluster[], query: StatusQuery): Members {
  const kept = head.status === null ? [] : keptGroups(groups, query);
  const all = kept.flatMap(({ entries }) => entries);
  return {
    ...headOf(head),
    ...(head.status === null ? {} : countsOf(all, query)),
    ...readyOf(head.status, query.type === 'cluster' ? keptGroups(groups, { ...query, type: 'all' }) : kept, query),
    ...appsOf(kept, query),
  };
}

/** Returns the names, the history and the state of the AppContext. */
export function headOf({ names, state, actions, status }: StatusHead): Members {
  const shown = actions.map(({ state, instance, time }) => ({ state, instance, time }));
  return { ...names, state, states: { actions: shown }, ...(status === null ? {} : { status }) };
}

function entriesOf(group: AppOnCluster, { type }: StatusQuery): Entry[] {
  if (type === 'rsync') return rsyncEntries(group);
  return type === 'cluster' ? liveEntries(group) : joinedEntries(group);
}

function isKept({ identity }: Entry, { resources }: StatusQuery): boolean {
  return resources.length === 0 || resources.includes(identity.name);
}

/** Returns the counts of entries by the statuses that the type has. */
export function countsOf(entries: readonly Entry[], { type }: Pick<StatusQuery, 'type'>): Members {
  const counts: Record<string, Counts | undefined> = {};
  if (type !== 'cluster') {
    counts['rsync-status'] = shownCounts(
      countBy(
        RSYNC_STATUSES,
        entries.map(({ rsyncStatus }) => rsyncStatus),
      ),
    );
  }
  if (type !== 'rsync') {
    counts['cluster-status'] = shownCounts(
      countBy(
        CLUSTER_STATUSES,
        entries.map(({ clusterStatus }) => clusterStatus),
      ),
    );
    counts['ready-status'] = shownCounts(
      countBy(
        READY_STATUSES,
        entries.map(({ readyStatus }) => readyStatus),
      ),
    );
  }
  return Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== undefined));
}

/**
 * Ready is what is wholly instantiated and whose manifests all have a ready object; nothing stale is. Manifests decide whatever the answer shows:
 * where nothing has been seen, no live object could say no.
 * @param joined what is kept of the manifests and the live objects
 */
function readyOf(status: ContextState | null, joined: readonly KeptGroup[], { type }: StatusQuery): Members {
  if (type === 'rsync' || status === null) return {};
  const manifests = joined.flatMap(({ entries }) => entries.filter(({ key }) => key !== undefined));
  const isHeard = joined.every(({ group }) => !group.isStale);
  return {
    ready: status === 'Instantiated' && isHeard && manifests.every(({ readyStatus }) => readyStatus === 'Ready'),
  };
}

function appsOf(kept: readonly KeptGroup[], query: StatusQuery): Members {
  if (query.output === 'summary') return {};
  const apps = [...new Set(kept.map(({ group }) => group.app))].map((name) => {
    const own = kept.filter(({ group }) => group.app === name);
    if (query.output === 'apps')
      return {
        name,
        ...countsOf(
          own.flatMap(({ entries }) => entries),
          query,
        ),
      };
    return { name, clusters: own.map((group) => clusterOf(group, query)) };
  });
  return apps.length === 0 ? {} : { apps };
}

function clusterOf({ group, entries }: KeptGroup, query: StatusQuery): Members {
  const away =
    group.connectivity === 'Reachable'
      ? {}
      : { connectivity: group.connectivity, ...(group.lastSeen === null ? {} : { 'last-seen': group.lastSeen }) };
  const head = { 'cluster-provider': group.provider, cluster: group.cluster, ...away };
  if (query.output === 'clusters') return { ...head, ...countsOf(entries, query) };
  return { ...head, resources: entries.map((entry) => entryView(entry, query)) };
}

function entryView(entry: Entry, { type, output }: StatusQuery): Members {
  const { identity, rsyncStatus, clusterStatus, readyStatus, reason, message } = entry;
  const view: Record<string, unknown> = { GVK: gvkOf(entry), name: identity.name };
  if (identity.namespace !== '') view.namespace = identity.namespace;
  if (rsyncStatus !== undefined) view['rsync-status'] = rsyncStatus;
  if (type !== 'rsync' && clusterStatus !== undefined) view['cluster-status'] = clusterStatus;
  if (type !== 'rsync' && readyStatus !== undefined) view['ready-status'] = readyStatus;
  if (reason) view.reason = reason;
  if (message) view.message = message;
  const detail = output === 'detail' ? detailOf(entry) : {};
  if (Object.keys(detail).length > 0) view.detail = detail;
  return view;
}

export function gvkOf({ identity: { group, version, kind } }: Pick<Entry, 'identity'>): Members {
  return { Group: group, Version: version, Kind: kind };
}

/** The live object as it was last seen; where there is none, the manifest. */
function detailOf({ object, manifest }: Entry): Members {
  const { apiVersion: _, kind: __, status, ...rest } = membersOf(object ?? manifest);
  return object === undefined || status === undefined ? rest : { ...rest, status };
}
