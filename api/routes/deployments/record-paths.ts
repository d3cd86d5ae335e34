/** Paths of routes and records: below `/v2` they are the same. */
import { z } from 'zod';
import type { ClusterRef } from '../../../domain/deployments/naming.ts';
import { musterError } from '../../../domain/errors.ts';

export const PROJECT = '/v2/projects/:project';
export const COMPOSITE_APP = `${PROJECT}/composite-apps/:composite_app/:version`;
export const GROUP = `${COMPOSITE_APP}/deployment-intent-groups/:group`;
export const CLOUD = `${PROJECT}/logical-clouds/:cloud`;
export const CLUSTER = '/v2/cluster-providers/:provider/clusters/:cluster';

const TEXTS: Readonly<Record<string, string>> = {
  project: 'name of the project',
  composite_app: 'name of the composite app',
  version: 'version of the composite app',
  app: 'name of the app',
  profile: 'name of the composite profile',
  app_profile: 'name of the app profile',
  group: 'name of the deployment intent group',
  intent: 'name of the intent',
  placement_intent: 'name of the generic placement intent',
  app_intent: 'name of the app intent',
  cloud: 'name of the logical cloud',
  reference: 'name of the cluster reference',
  controller: 'name of the controller',
  provider: 'name of the provider',
  cluster: 'name of the cluster',
  kv_pairs: 'name of the set of kv-pairs',
  network: 'name of the network intent',
};

export type Names = Record<string, string>;

/** Returns the schema of the parameters of a path. */
export function paramsOf(path: string): z.ZodObject<Record<string, z.ZodString>> {
  return z.object(Object.fromEntries(namesIn(path).map((name) => [name, z.string().describe(TEXTS[name] ?? name)])));
}

/** Returns the path of the record that a route's path names. Throws `not_found` for a name that no record can have. */
export function recordAt(path: string, names: Names): string {
  return path.slice('/v2/'.length).replace(/:([a-z_]+)/g, (_, name: string) => {
    const value = names[name] ?? '';
    if (value === '' || value.includes('/')) throw musterError('not_found', `'${value}' could not be found`);
    return value;
  });
}

/** Returns the cluster that a route's path names. */
export function clusterIn({ provider = '', cluster = '' }: Names): ClusterRef {
  return { provider, cluster };
}

function namesIn(path: string): string[] {
  return [...path.matchAll(/:([a-z_]+)/g)].map(([, name]) => name as string);
}
