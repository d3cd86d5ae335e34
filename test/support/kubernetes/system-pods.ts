import { eventually } from '../eventually.ts';
import { kubectl } from './dev-cluster.ts';

const SYSTEM = 'kube-system';
const READY_LIMIT_MS = 180_000;

interface Pod {
  status?: { phase?: string; conditions?: { type: string; status: string }[] };
}

/** Waits until the cluster's own pods (names, storage) are ready again; a cluster may have none. */
export async function untilSystemIsReady(): Promise<void> {
  await eventually(
    'the pods of the cluster itself are ready',
    async () => {
      const { items } = JSON.parse(await kubectl(['--namespace', SYSTEM, 'get', 'pods', '--output', 'json'])) as {
        items: Pod[];
      };
      return items.every(
        ({ status }) =>
          status?.phase === 'Succeeded' ||
          status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True'),
      );
    },
    READY_LIMIT_MS,
  );
}
