/** The answer to a status query of a deployment, as the command line reads it. */

export type Counts = Readonly<Record<string, number>>;

export interface StatusCounts {
  'rsync-status'?: Counts;
  'cluster-status'?: Counts;
  'ready-status'?: Counts;
}

export interface ResourceStatus {
  GVK: { Group: string; Version: string; Kind: string };
  name: string;
  namespace?: string;
  'rsync-status'?: string;
  'cluster-status'?: string;
  'ready-status'?: string;
  reason?: string;
  message?: string;
}

export interface ClusterStatus {
  'cluster-provider': string;
  cluster: string;
  /** Absent while the cluster answers. */
  connectivity?: string;
  'last-seen'?: string;
  resources?: ResourceStatus[];
}

export interface DeploymentStatus extends StatusCounts {
  name: string;
  state: string;
  /** State of the AppContext; absent without one. */
  status?: string;
  ready?: boolean;
  apps?: { name: string; clusters: ClusterStatus[] }[];
}

/** One resource on one cluster. */
export interface ResourceRow {
  app: string;
  /** `<provider>+<cluster>` */
  cluster: string;
  connectivity: string;
  kind: string;
  name: string;
  namespace: string;
  applied: string;
  present: string;
  ready: string;
  reason: string;
  message: string;
}

/** Returns a row for each resource, in the order of the answer. */
export function rowsOf({ apps = [] }: DeploymentStatus): ResourceRow[] {
  return apps.flatMap(({ name: app, clusters }) =>
    clusters.flatMap((cluster) =>
      (cluster.resources ?? []).map((resource) => ({
        ...{ app, cluster: clusterOf(cluster), connectivity: cluster.connectivity ?? 'Reachable' },
        ...{ kind: resource.GVK.Kind, name: resource.name, namespace: resource.namespace ?? '' },
        ...{ applied: resource['rsync-status'] ?? '', present: resource['cluster-status'] ?? '' },
        ...{ ready: resource['ready-status'] ?? '' },
        ...{ reason: resource.reason ?? '', message: resource.message ?? '' },
      })),
    ),
  );
}

export function clusterOf({ 'cluster-provider': provider, cluster }: ClusterStatus): string {
  return `${provider}+${cluster}`;
}

/** Statuses of a resource that wants nothing more in its phase. */
const SETTLED = ['Applied', 'Deleted', ''];

/**
 * Returns the rows of what is not well: failed, tried again, or there and not ready. What has not begun yet, or waits for another, is no fault;
 * neither is an object that was deleted and is not there.
 */
export function faultsOf(rows: readonly ResourceRow[]): ResourceRow[] {
  return rows.filter(({ applied, ready, reason }) => {
    if (applied === 'Pending') return reason !== '' && reason !== 'Waiting';
    if (!SETTLED.includes(applied)) return true;
    return applied !== 'Deleted' && ready !== '' && ready !== 'Ready';
  });
}

/** Returns what Muster waits for with a resource; empty where it waits for nothing. */
export function waitsFor({ applied, cluster, reason }: ResourceRow): string {
  if (applied !== 'Retrying') return '';
  if (reason === 'BeingDeleted') return 'the former object to be gone';
  if (reason === 'SecretUnreadable') return 'the key of sealed values';
  if (reason === 'Unauthorized' || reason === 'CredentialUnreadable') return `a credential that ${cluster} takes`;
  return `an answer of ${cluster}`;
}
