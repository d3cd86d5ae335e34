import type { ClusterClient } from '../kubernetes/cluster-client.ts';
import { openSpareReads } from '../kubernetes/spare-reads.ts';
import { NODES } from './cluster-paths.ts';
import type { ListObject, NodeObject, PodObject } from './objects.ts';
import { nodesThatMatter } from './pod-trouble.ts';

/** What is known of the nodes of a cluster. */
export interface Nodes {
  /** The nodes that have a say about the pod; null when they may not be read, or cannot be now. Never fails. */
  for(pod: PodObject | null): Promise<readonly NodeObject[] | null>;
}

/**
 * Reads nodes when a pod has none or may have lost its own. The right to do so lies outside of any namespace, so it is not taken
 * for granted.
 */
export function openNodes(client: ClusterClient): Nodes {
  const nodes = openSpareReads<ListObject<NodeObject> & NodeObject, readonly NodeObject[]>(
    client,
    (body) => (body.kind === 'Node' ? [body] : (body.items ?? [])).map(trimmed),
    [],
  );
  return {
    async for(pod) {
      const which = pod === null ? null : nodesThatMatter(pod);
      if (which === null) return null;
      return await nodes.read(which === 'all' ? NODES : `${NODES}/${which.name}`);
    },
  };
}

/** A node lists every image that it has: only what is asked about it is kept. */
function trimmed({ metadata, spec, status }: NodeObject): NodeObject {
  const { name, labels } = metadata;
  const ready = status?.conditions?.filter(({ type }) => type === 'Ready');
  return {
    metadata: { name, ...(labels === undefined ? {} : { labels }) },
    spec: spec?.taints === undefined ? {} : { taints: spec.taints },
    status: { allocatable: status?.allocatable ?? {}, ...(ready === undefined ? {} : { conditions: ready }) },
  };
}
