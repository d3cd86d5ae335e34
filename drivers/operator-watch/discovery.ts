import { apiVersionOf, type Gvk } from '../../domain/operator/names.ts';
import type { ClusterClient } from '../kubernetes/cluster-client.ts';
import { ABSENT } from '../kubernetes/statuses.ts';

/** How a kind is addressed. */
export interface ResourceKind {
  plural: string;
  namespaced: boolean;
}

/** Says how kinds are addressed, as the cluster does. */
export interface Discovery {
  /** Returns null for a kind that the cluster does not know. Throws `cluster_unavailable`. */
  find(gvk: Gvk): Promise<ResourceKind | null>;
  /** The next `find` of the kind asks the cluster. */
  forget(gvk: Gvk): void;
}

interface ApiResourceList {
  resources?: { name: string; kind: string; namespaced: boolean }[];
}

/** Makes a discovery that remembers what it has found. */
export function createDiscovery(client: ClusterClient): Discovery {
  const known = new Map<string, ResourceKind>();
  const keyOf = (gvk: Gvk): string => `${apiVersionOf(gvk)} ${gvk.kind}`;
  return {
    async find(gvk) {
      const kept = known.get(keyOf(gvk));
      if (kept !== undefined) return kept;
      const path = basePath(gvk);
      const { status, body } = await client.ask<ApiResourceList>({ method: 'GET', path, expected: [ABSENT] });
      if (status === ABSENT) return null;
      // Names with a slash are subresources.
      const found = body.resources?.find(({ name, kind }) => kind === gvk.kind && !name.includes('/'));
      if (found === undefined) return null;
      const resource = { plural: found.name, namespaced: found.namespaced };
      known.set(keyOf(gvk), resource);
      return resource;
    },
    forget: (gvk) => {
      known.delete(keyOf(gvk));
    },
  };
}

/** Returns the path below which the resources of a group and version lie. */
export function basePath({ group, version }: Pick<Gvk, 'group' | 'version'>): string {
  return group === ''
    ? `/api/${encodeURIComponent(version)}`
    : `/apis/${encodeURIComponent(group)}/${encodeURIComponent(version)}`;
}

/** Returns the path of the resources of a kind, in a namespace where one is given. */
export function collectionPath(gvk: Gvk, { plural }: ResourceKind, namespace: string): string {
  const inside = namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${basePath(gvk)}${inside}/${encodeURIComponent(plural)}`;
}
