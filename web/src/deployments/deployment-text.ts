/** Deployments in words: their paths, how they stand, and why. */

export type Counts = Readonly<Record<string, number>>;

/** Counts of resources by their statuses, as the API has them. */
export interface StatusCounts {
  'rsync-status'?: Counts;
  'cluster-status'?: Counts;
  'ready-status'?: Counts;
}

export interface ClusterCounts extends StatusCounts {
  'cluster-provider': string;
  cluster: string;
  /** Absent while the cluster answers. */
  connectivity?: string;
  'last-seen'?: string;
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

/** What is known of a deployment without its resources. */
export interface DeploymentStatus extends StatusCounts {
  state: string;
  /** State of the AppContext; absent without one. */
  status?: string;
  ready?: boolean;
  states?: { actions: { state: string; instance: string; time: string }[] };
  apps?: { name: string; clusters: ClusterCounts[] }[];
}

/** Project that a deployment with a name of its own belongs to, and the version of its composite app. */
const [SHORT_PROJECT, SHORT_VERSION] = ['default', 'v1'];

/** Returns the path of a deployment below `/v2`: of `PROJECT+APPLICATION+VERSION+NAME`, or of a name alone; null for another text. */
export function deploymentPath(text: string): string | null {
  const parts = text.split('+');
  // A part `..` would lead to another route.
  if (parts.some((part) => ['', '.', '..'].includes(part))) return null;
  const [first = ''] = parts;
  const whole = parts.length === 1 ? [SHORT_PROJECT, first, SHORT_VERSION, first] : parts;
  if (whole.length !== 4) return null;
  const [project, app, version, name] = whole.map(encodeURIComponent);
  return `/projects/${project}/composite-apps/${app}/${version}/deployment-intent-groups/${name}`;
}

/** Returns the name of a cluster. */
export const clusterOf = (cluster: Pick<ClusterCounts, 'cluster-provider' | 'cluster'>): string =>
  `${cluster['cluster-provider']}+${cluster.cluster}`;

/** Returns counts as `5 Applied, 1 Failed`. */
export function countsText(counts: Counts | undefined): string {
  return Object.entries(counts ?? {})
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${count} ${word}`)
    .join(', ');
}

/** Statuses of a resource that wants nothing more in its phase. */
const SETTLED = ['Applied', 'Deleted'];

/** Whether a resource is not as it should be, or not yet. */
export function isOpen(resource: ResourceStatus): boolean {
  const { 'rsync-status': applied, 'ready-status': ready } = resource;
  if (applied !== undefined && !SETTLED.includes(applied)) return true;
  return applied !== 'Deleted' && ready !== undefined && ready !== 'Ready';
}

/** Returns the resources with those first that are not as they should be. */
export function openFirst(resources: readonly ResourceStatus[]): ResourceStatus[] {
  return resources.toSorted((one, other) => Number(isOpen(other)) - Number(isOpen(one)));
}

/** Returns what is not well of one app on one cluster; '' where all is. */
export function troubleOf(cluster: ClusterCounts): string {
  const applied = cluster['rsync-status'] ?? {};
  const failed = ['Failed', 'Retrying', 'Pending'].filter((word) => (applied[word] ?? 0) > 0);
  const isDeleted = Object.keys(applied).every((word) => word === 'Deleted' || (applied[word] ?? 0) === 0);
  const unready = isDeleted ? [] : ['NotReady', 'Unknown'].filter((word) => (cluster['ready-status']?.[word] ?? 0) > 0);
  const words = [
    ...(cluster.connectivity === undefined ? [] : [cluster.connectivity]),
    ...failed.map((word) => `${applied[word]} ${word}`),
    ...unready.map((word) => `${cluster['ready-status']?.[word]} ${word}`),
  ];
  return words.join(', ');
}

/** Returns in one sentence how a deployment stands, and what would change that. */
export function whyText({ state, status, ready }: DeploymentStatus): string {
  return standingText(state, status, ready === true);
}

/** The same of what a list knows: it does not say whether everything is ready. */
export function standingText(state: string, status: string | null | undefined, ready?: boolean): string {
  switch (state) {
    case 'Created':
      return 'It goes nowhere until it is approved and instantiated';
    case 'Approved':
      return 'It goes nowhere until it is instantiated';
    case 'InstantiateStopped':
      return 'It was stopped: what was applied by then stays until it is terminated';
    case 'TerminateStopped':
      return 'Its termination was stopped: what was not deleted by then stays';
    case 'Terminated':
      return status === 'Terminated'
        ? 'It was taken off its clusters'
        : status === 'TerminateFailed'
          ? 'Not everything could be deleted: terminate it again'
          : 'It is being taken off its clusters';
  }
  if (status === 'Instantiating') return 'It is being brought to its clusters';
  if (status === 'InstantiateFailed') return 'Not everything could be applied: the reasons stand at the resources';
  if (ready === undefined) return 'Everything is applied';
  return ready ? 'Everything is applied, and ready' : 'Everything is applied, and not everything is ready';
}

/** Calls of the life cycle. */
export type DeploymentCall = 'approve' | 'instantiate' | 'terminate' | 'stop';

/** Returns why a call does nothing now; null: it does something. What the API says of it counts. */
export function callRefusal(call: DeploymentCall, { state, status }: DeploymentStatus): string | null {
  const runs = state === 'Instantiated' || state === 'InstantiateStopped';
  switch (call) {
    case 'approve':
      if (runs) return 'It is instantiated: terminate first';
      if (state === 'TerminateStopped') return 'Its termination was stopped: instantiate it or terminate it again';
      return state === 'Approved' ? 'It is approved' : null;
    case 'instantiate':
      if (state === 'Created') return 'It must be approved first';
      return runs ? 'It is instantiated: terminate first' : null;
    case 'terminate':
      if (runs || status === 'TerminateFailed') return null;
      return state === 'Terminated' || state === 'TerminateStopped' ? 'It is terminated' : 'It is not instantiated';
    case 'stop':
      return isAtWork(state, status) ? null : 'Nothing of it is at work';
  }
}

function isAtWork(state: string, status: string | undefined): boolean {
  if (state === 'Instantiated') return status === 'Instantiating';
  return state === 'Terminated' && (status === 'PreTerminate' || status === 'Terminating');
}
