/** The answer to a status query: what was applied and what is there, from the counts down to each manifest and live object. */
import type { LiveResource } from '../../domain/deployments/cluster-status.ts';
import { connectivityOf } from '../../domain/deployments/connectivity.ts';
import { addCounts, shownCounts } from '../../domain/deployments/counting.ts';
import {
  appliedSince,
  type ClusterSight,
  isReceived,
  isStale,
  staleCause,
  whyUnwatched,
} from '../../domain/deployments/freshness.ts';
import type { NetworkState, OwnerState } from '../../domain/deployments/history.ts';
import { legacyAnswer } from '../../domain/deployments/legacy-view.ts';
import { manifestToApply, withoutSecretValues } from '../../domain/deployments/manifest-cleaning.ts';
import { type Members, membersOf } from '../../domain/deployments/members.ts';
import { type ClusterRef, clusterName, labelValue } from '../../domain/deployments/naming.ts';
import { groupNames, nameInPath, networksPath, type RecordKind } from '../../domain/deployments/record-path.ts';
import type { GroupRecord } from '../../domain/deployments/record-schema.ts';
import { RSYNC_STATUSES } from '../../domain/deployments/resource-status.ts';
import { shownLive } from '../../domain/deployments/snapshot.ts';
import { type GivenQuery, readStatusQuery, type StatusQuery } from '../../domain/deployments/status-query.ts';
import { type AppOnCluster, headOf, statusAnswer } from '../../domain/deployments/status-view.ts';
import { musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import { findCluster } from '../../store/deployments/clusters.ts';
import { listStatuses, type StatusRow } from '../../store/deployments/context-statuses.ts';
import { countStatuses } from '../../store/deployments/contexts.ts';
import { findRecord, type RecordRow } from '../../store/deployments/records.ts';
import { listLive, listWatchedClusters } from '../../store/deployments/snapshots.ts';
import { clusterNotFound } from './put-cluster.ts';
import { recordNotFound } from './records.ts';
import { type Standing, standingOf } from './situation.ts';

export interface StatusDependencies {
  db: Db;
  /** A cluster that has not answered for so long is unreachable, ms. */
  staleAfterMs: number;
  clock(): Date;
}

/**
 * Returns the status of a deployment intent group or a logical cloud.
 * Throws `bad_request` for a mistake in the query, `not_found`.
 */
export async function statusOf(
  deps: StatusDependencies,
  kind: Extract<RecordKind, 'group' | 'cloud'>,
  path: string,
  given: GivenQuery,
): Promise<Members> {
  const { db } = deps;
  const query = readStatusQuery(given);
  const record = await findRecord(db, { kind, path });
  if (record === null) throw recordNotFound(kind, path);
  return await answerOf(deps, namesOf(kind, record), await standingOf(db, path), query);
}

/** Returns the status of the network intents of a cluster. Throws `bad_request` for a mistake in the query, `not_found`. */
export async function statusOfNetworks(deps: StatusDependencies, ref: ClusterRef, given: GivenQuery): Promise<Members> {
  const query = readStatusQuery(given);
  const cluster = await findCluster(deps.db, ref);
  if (cluster === null) throw clusterNotFound(ref);
  const standing = await standingOf<NetworkState>(deps.db, networksPath(ref));
  // Its history is stored with the first call, and begins with the cluster.
  const created = { state: 'Created', instance: '', time: cluster.created_at.toISOString() } as const;
  const actions = standing.actions.length === 0 ? [created] : standing.actions;
  return await answerOf(deps, { name: clusterName(ref) }, { ...standing, actions }, query);
}

async function answerOf(
  deps: StatusDependencies,
  names: Readonly<Record<string, string>>,
  { actions, state, instance, contexts }: Pick<Standing<OwnerState>, 'actions' | 'state' | 'instance' | 'contexts'>,
  query: StatusQuery,
): Promise<Members> {
  const { db } = deps;
  const asked = query.instance ?? instance;
  const status = asked === null ? null : (contexts.get(asked) ?? null);
  if (asked !== null && status === null) {
    throw musterError('not_found', `'${names.name}' has no instance '${asked}'`);
  }
  const head = { names, state, actions, status };
  if (query.legacy) return legacyAnswer(head, asked === null ? [] : await groupsOf(deps, asked, query), query);
  if (asked === null) return headOf(head);
  if (!isCountAlone(query)) return statusAnswer(head, await groupsOf(deps, asked, query), query);
  const counts = shownCounts(addCounts(RSYNC_STATUSES, [await countStatuses(db, asked)]));
  return counts === undefined ? headOf(head) : { ...headOf(head), 'rsync-status': counts };
}

/** Counted by the database: there may be many resources. */
function isCountAlone({ type, output, apps, clusters, resources }: StatusQuery): boolean {
  return type === 'rsync' && output === 'summary' && apps.length + clusters.length + resources.length === 0;
}

async function groupsOf(deps: StatusDependencies, context: string, query: StatusQuery): Promise<AppOnCluster[]> {
  const isSeen = query.type !== 'rsync';
  // A live object may be described by a manifest of another name than is asked for, or by none.
  const resources = isSeen ? [] : query.resources;
  const rows = await listStatuses(deps.db, context, { ...query, resources, isDetailed: query.output === 'detail' });
  const sight = isSeen ? await sightOf(deps.db, context) : null;
  const groups = new Map<string, StatusRow[]>();
  for (const row of rows) {
    const key = groupKey(row);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [row]);
    else known.push(row);
  }
  const now = deps.clock();
  return [...groups.values()].map((own) => groupOf(deps, context, own, { sight, now }));
}

/** What is known of the clusters of an AppContext. */
interface Sight {
  clusters: ReadonlyMap<string, ClusterSight>;
  /** By app and cluster. */
  live: ReadonlyMap<string, LiveResource[]>;
}

async function sightOf(db: Db, context: string): Promise<Sight> {
  const [clusters, rows] = await Promise.all([listWatchedClusters(db, context), listLive(db, context)]);
  const live = new Map<string, LiveResource[]>();
  for (const row of rows) {
    const { api_group: group, version, kind, namespace, name, object, is_own: isOwn } = row;
    const seen = { identity: { group, version, kind, namespace, name }, object: membersOf(JSON.parse(object)), isOwn };
    const key = groupKey(row);
    const known = live.get(key);
    if (known === undefined) live.set(key, [seen]);
    else known.push(seen);
  }
  return { clusters: new Map(clusters.map((each) => [clusterName(each), each])), live };
}

function groupKey({ app, ...ref }: { app: string } & ClusterRef): string {
  return `${app}/${clusterName(ref)}`;
}

function groupOf(
  { staleAfterMs }: StatusDependencies,
  context: string,
  rows: StatusRow[],
  { sight, now }: { sight: Sight | null; now: Date },
): AppOnCluster {
  const [first] = rows as [StatusRow];
  const { app, provider, cluster, is_answering, last_seen, applied_at } = first;
  const connectivity = connectivityOf({ isAnswering: is_answering ?? false, lastSeen: last_seen }, now, staleAfterMs);
  const resources = rows.map((row) => resourceOf(context, row));
  const known = sight?.clusters.get(clusterName(first)) ?? { kinds: [], watchedUntil: null };
  const appliedAt = appliedSince(
    applied_at,
    rows.some(({ attempted }) => attempted),
  );
  const matters = [...resources.map(({ identity }) => identity), { group: '', kind: 'Pod' }];
  const seen = [{ ...known, connectivity }, matters, { now, staleAfterMs }] as const;
  return {
    ...{ app, provider, cluster, connectivity, resources },
    lastSeen: last_seen?.toISOString() ?? null,
    live: shownLive(sight?.live.get(groupKey(first)) ?? [], resources),
    isReceived: (identity) => isReceived(known, identity, appliedAt),
    whyUnwatched: (identity) => whyUnwatched(known, identity),
    isStale: sight !== null && isStale(...seen),
    staleCause: sight === null ? '' : staleCause(...seen),
  };
}

/** The namespace is that which the object was sent to; before, that which the manifest names. */
function resourceOf(context: string, row: StatusRow): AppOnCluster['resources'][number] {
  const { app, key, status, reason, message, sent_namespace, manifest } = row;
  const namespace = sent_namespace ?? row.namespace;
  const applied = (text: string) =>
    manifestToApply(membersOf(JSON.parse(text)), labelValue(context, app), namespace || null);
  return {
    ...{ key, status, reason, message },
    identity: { group: row.api_group, version: row.version, kind: row.kind, namespace, name: row.name },
    // Values are sealed when they are stored; what an older version has stored may have them.
    ...(manifest === undefined ? {} : { manifest: withoutSecretValues(applied(manifest)) }),
  };
}

function namesOf(kind: 'group' | 'cloud', record: RecordRow): Record<string, string> {
  if (kind === 'cloud') return { name: nameInPath(record.path) };
  const { project, app, version, name } = groupNames(record.path);
  return {
    project,
    'composite-app-name': app,
    'composite-app-version': version,
    'composite-profile-name': (record as unknown as GroupRecord).spec.profile,
    name,
  };
}
