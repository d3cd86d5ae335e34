/** Which clusters an app goes to. */
import { musterError } from '../errors.ts';
import { byName, type ClusterRef, clusterName } from './naming.ts';

export interface PlacementElement {
  'provider-name'?: string | undefined;
  'cluster-name'?: string | undefined;
  'cluster-label-name'?: string | undefined;
}

export interface Placement {
  allOf?: readonly (PlacementElement & { anyOf?: readonly PlacementElement[] | undefined })[] | undefined;
  anyOf?: readonly PlacementElement[] | undefined;
}

export interface KnownCluster extends ClusterRef {
  labels: readonly string[];
}

/**
 * Returns the clusters of an app, each once, in the order of their names. A choice of one cluster takes the first name.
 * Throws `no_such_cluster` for a cluster that is named and does not exist, `no_clusters` when none is chosen.
 */
export function placeApp(
  app: string,
  { allOf = [], anyOf = [] }: Placement,
  known: readonly KnownCluster[],
): ClusterRef[] {
  const candidates = finderFor(app, known);
  const chosen = new Map<string, ClusterRef>();
  addAll(chosen, distinct(allOf).flatMap(candidates));
  for (const one of distinct(allOf.flatMap((element) => element.anyOf ?? []))) addAll(chosen, firstOf(candidates(one)));
  addAll(chosen, firstOf(distinct(anyOf).flatMap(candidates)));
  if (chosen.size === 0) throw noClusters(app, 'its intent chooses no cluster');
  return [...chosen].sort(([one], [other]) => byName(one, other)).map(([, cluster]) => cluster);
}

/** Returns every cluster that a placement could choose, each once. Throws `no_such_cluster`. */
export function candidatesFor(
  app: string,
  { allOf = [], anyOf = [] }: Placement,
  known: readonly KnownCluster[],
): ClusterRef[] {
  const elements = [...allOf, ...allOf.flatMap((element) => element.anyOf ?? []), ...anyOf];
  const found = new Map<string, ClusterRef>();
  addAll(found, distinct(elements).flatMap(finderFor(app, known)));
  return [...found.values()];
}

/** Returns the refusal of an app that no intent places or whose intent finds nothing. */
export function noClusters(app: string, why: string) {
  return musterError('no_clusters', `App '${app}' goes to no cluster: ${why}`);
}

/** Throws `logical_cloud_lacks_clusters` when an app goes to a cluster that is not in the logical cloud. */
export function checkCloudHas(cloud: string, members: readonly ClusterRef[], chosen: readonly ClusterRef[]): void {
  const names = new Set(members.map(clusterName));
  const stranger = chosen.map(clusterName).find((name) => !names.has(name));
  if (stranger === undefined) return;
  throw musterError(
    'logical_cloud_lacks_clusters',
    `Logical cloud '${cloud}' has no reference to cluster '${stranger}'`,
  );
}

type Find = (element: PlacementElement) => readonly KnownCluster[];

/** Answers what finds the clusters of an element. Neither or both of name and label select nothing. */
function finderFor(app: string, known: readonly KnownCluster[]): Find {
  const byItsName = new Map(known.map((cluster) => [clusterName(cluster), cluster]));
  const byLabel = new Map<string, KnownCluster[]>();
  const keyOf = (provider: string, label: string) => `${provider}/${label}`;
  for (const cluster of known) {
    for (const label of cluster.labels) {
      const key = keyOf(cluster.provider, label);
      const same = byLabel.get(key);
      if (same === undefined) byLabel.set(key, [cluster]);
      else same.push(cluster);
    }
  }
  return ({ 'provider-name': provider, 'cluster-name': name, 'cluster-label-name': label }) => {
    if (!provider || Boolean(name) === Boolean(label)) return [];
    if (label) return byLabel.get(keyOf(provider, label)) ?? [];
    const named = clusterName({ provider, cluster: name as string });
    const found = byItsName.get(named);
    if (found === undefined)
      throw musterError('no_such_cluster', `App '${app}' names cluster '${named}', which does not exist`);
    return [found];
  };
}

/** Each element once: a document may say the same ten thousand times. */
function distinct(elements: readonly PlacementElement[]): PlacementElement[] {
  const keyOf = (element: PlacementElement) =>
    JSON.stringify([element['provider-name'], element['cluster-name'], element['cluster-label-name']]);
  return [...new Map(elements.map((element) => [keyOf(element), element])).values()];
}

function addAll(chosen: Map<string, ClusterRef>, clusters: readonly ClusterRef[]): void {
  for (const { provider, cluster } of clusters) chosen.set(clusterName({ provider, cluster }), { provider, cluster });
}

function firstOf(clusters: readonly KnownCluster[]): KnownCluster[] {
  const [one, ...others] = clusters;
  if (one === undefined) return [];
  return [others.reduce((first, other) => (byName(clusterName(other), clusterName(first)) < 0 ? other : first), one)];
}
