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
  const byItsName = new Map(known.map((cluster) => [clusterName(cluster), cluster]));
  const chosen = new Map<string, ClusterRef>();
  const choose = (clusters: readonly ClusterRef[]) => {
    for (const { provider, cluster } of clusters) chosen.set(clusterName({ provider, cluster }), { provider, cluster });
  };
  const candidates = (element: PlacementElement) => candidatesOf(app, element, known, byItsName);
  for (const element of allOf) {
    choose(candidates(element));
    for (const one of element.anyOf ?? []) choose(firstOf(candidates(one)));
  }
  choose(firstOf(anyOf.flatMap(candidates)));
  if (chosen.size === 0) throw noClusters(app, 'its intent chooses no cluster');
  return [...chosen].sort(([one], [other]) => byName(one, other)).map(([, cluster]) => cluster);
}

/** Returns every cluster that a placement could choose, each once. Throws `no_such_cluster`. */
export function candidatesFor(
  app: string,
  { allOf = [], anyOf = [] }: Placement,
  known: readonly KnownCluster[],
): ClusterRef[] {
  const byItsName = new Map(known.map((cluster) => [clusterName(cluster), cluster]));
  const elements = [...allOf, ...allOf.flatMap((element) => element.anyOf ?? []), ...anyOf];
  const found = elements.flatMap((element) => candidatesOf(app, element, known, byItsName));
  return [
    ...new Map(
      found.map(({ provider, cluster }) => [clusterName({ provider, cluster }), { provider, cluster }]),
    ).values(),
  ];
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

/** Neither or both of name and label select nothing. */
function candidatesOf(
  app: string,
  element: PlacementElement,
  known: readonly KnownCluster[],
  byItsName: ReadonlyMap<string, KnownCluster>,
): KnownCluster[] {
  const { 'provider-name': provider, 'cluster-name': name, 'cluster-label-name': label } = element;
  if (!provider || Boolean(name) === Boolean(label)) return [];
  if (label) return known.filter((cluster) => cluster.provider === provider && cluster.labels.includes(label));
  const named = clusterName({ provider, cluster: name as string });
  const found = byItsName.get(named);
  if (found === undefined)
    throw musterError('no_such_cluster', `App '${app}' names cluster '${named}', which does not exist`);
  return [found];
}

function firstOf(clusters: readonly KnownCluster[]): KnownCluster[] {
  return clusters.toSorted((one, other) => byName(clusterName(one), clusterName(other))).slice(0, 1);
}
