/** Paths of placement records: a path is the key of a record and holds the keys of its parents. Names have no slash. */

import type { ClusterRef } from './naming.ts';

/** Each kind with the collection that it stands in and the kind of its parent. */
export const RECORDS = {
  project: { collection: 'projects', parent: null, word: 'Project' },
  controller: { collection: 'controllers', parent: null, word: 'Controller' },
  'composite-app': { collection: 'composite-apps', parent: 'project', word: 'Composite app' },
  app: { collection: 'apps', parent: 'composite-app', word: 'App' },
  'composite-profile': { collection: 'composite-profiles', parent: 'composite-app', word: 'Composite profile' },
  profile: { collection: 'profiles', parent: 'composite-profile', word: 'App profile' },
  group: { collection: 'deployment-intent-groups', parent: 'composite-app', word: 'Deployment intent group' },
  intent: { collection: 'intents', parent: 'group', word: 'Intent' },
  'placement-intent': {
    collection: 'generic-placement-intents',
    parent: 'group',
    word: 'Generic placement intent',
  },
  'app-intent': { collection: 'app-intents', parent: 'placement-intent', word: 'App intent' },
  cloud: { collection: 'logical-clouds', parent: 'project', word: 'Logical cloud' },
  'cluster-reference': { collection: 'cluster-references', parent: 'cloud', word: 'Cluster reference' },
  // Below a cluster, which is a record of its own table.
  'kv-pairs': { collection: 'kv-pairs', parent: null, word: 'Set of kv-pairs' },
  network: { collection: 'networks', parent: null, word: 'Network' },
  'provider-network': { collection: 'provider-networks', parent: null, word: 'Provider network' },
  // The network intents of a cluster as a whole, with their history and AppContexts; made with the first call of their life cycle.
  'network-intents': { collection: 'network-intents', parent: null, word: 'Network intents' },
} as const;

export type RecordKind = keyof typeof RECORDS;

/** Returns the path of a record. A composite app's name is `<name>/<version>`. */
export function recordPath(parent: string | null, kind: RecordKind, name: string): string {
  const own = `${RECORDS[kind].collection}/${name}`;
  return parent === null ? own : `${parent}/${own}`;
}

/** Returns the path of a cluster, below which its records stand. */
export function clusterPath({ provider, cluster }: ClusterRef): string {
  return `cluster-providers/${provider}/clusters/${cluster}`;
}

/** Returns the path of the network intents of a cluster as a whole. */
export function networksPath(ref: ClusterRef): string {
  return `${clusterPath(ref)}/${RECORDS['network-intents'].collection}`;
}

/** Returns the last name of a path. */
export function nameInPath(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Returns the path of the project that a path is below. */
export function projectOf(path: string): string {
  return path.split('/').slice(0, 2).join('/');
}

/** Returns the names that the status of a deployment intent group begins with. */
export function groupNames(path: string): { project: string; app: string; version: string; name: string } {
  const [, project = '', , app = '', version = '', , name = ''] = path.split('/');
  return { project, app, version, name };
}
