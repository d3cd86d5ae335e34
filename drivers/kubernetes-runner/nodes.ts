import { isMusterError } from '../../domain/errors.ts';
import type { ClusterClient } from './cluster-client.ts';
import { NODES } from './cluster-paths.ts';
import type { ListObject, NodeObject, PodObject } from './objects.ts';
import { nodesThatMatter } from './pod-trouble.ts';

/** How old what is known of nodes may be, ms. */
const FRESH_MS = 5_000;
/** How long a refusal is taken for the answer, ms. */
const REFUSED_MS = 300_000;
const FORBIDDEN = 403;
const ABSENT = 404;

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
  const known = new Map<string, { nodes: Promise<readonly NodeObject[] | null>; until: number }>();
  let refusedUntil = 0;

  const read = async (name: string | null): Promise<readonly NodeObject[] | null> => {
    const path = name === null ? NODES : `${NODES}/${name}`;
    try {
      const answer = await client.ask<ListObject<NodeObject> & NodeObject>({
        method: 'GET',
        path,
        expected: [FORBIDDEN, ABSENT],
      });
      if (answer.status === FORBIDDEN) {
        refusedUntil = Date.now() + REFUSED_MS;
        return null;
      }
      if (answer.status === ABSENT) return [];
      return (name === null ? (answer.body.items ?? []) : [answer.body]).map(trimmed);
    } catch (error) {
      if (isMusterError(error)) return null;
      throw error;
    }
  };

  return {
    async for(pod) {
      const which = pod === null ? null : nodesThatMatter(pod);
      if (which === null || Date.now() < refusedUntil) return null;
      const key = which === 'all' ? '' : which.name;
      const now = Date.now();
      for (const [name, { until }] of known) if (until < now) known.delete(name);
      const fresh = known.get(key);
      if (fresh !== undefined) return await fresh.nodes;
      const nodes = read(which === 'all' ? null : which.name);
      known.set(key, { nodes, until: now + FRESH_MS });
      return await nodes;
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
