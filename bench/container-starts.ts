/** When the containers of a pod began, as exactly as this cluster tells. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestNamespace } from '../test/support/kubernetes/dev-cluster.ts';

/** Of the cluster of this machine's own: see deploy/dev-cluster/own. */
const SOCKET = '/run/muster-dev-cluster/containerd.sock';
/** How long an event of a container that has ended may be on its way, ms. */
const EVENT_MS = 5_000;

interface ContainerStatus {
  name: string;
  containerID?: string;
  state?: Record<'running' | 'terminated', { startedAt?: string } | undefined>;
}

export interface ContainerStarts {
  /** How exact the moments are, for people. */
  source: string;
  /** When each container of the Job's pod began that has done so, ms since 1970, by name. */
  of(job: string): Promise<Record<string, number>>;
  close(): void;
}

/**
 * Listens from now on. On the machine's own cluster the runtime tells of each start to the nanosecond; elsewhere there is
 * only what Kubernetes keeps, in whole seconds.
 */
export function watchContainerStarts(namespace: TestNamespace): ContainerStarts {
  const program = join(dirname(process.env.MUSTER_TEST_KUBECTL ?? ''), 'ctr');
  const runtime = existsSync(SOCKET) && existsSync(program) ? listen(program) : null;
  const statuses = async (job: string): Promise<ContainerStatus[]> => {
    const selector = `batch.kubernetes.io/job-name=${job}`;
    const { items } = JSON.parse(await namespace.kubectl(['get', 'pods', '--selector', selector, '--output', 'json']));
    const status = items[0]?.status ?? {};
    return [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  };
  return {
    source: runtime === null ? 'Kubernetes’ startedAt, in whole seconds' : 'events of the container runtime',
    async of(job) {
      const found: Record<string, number> = {};
      for (const { name, containerID = '', state } of await statuses(job)) {
        const { startedAt } = state?.terminated ?? state?.running ?? {};
        if (startedAt === undefined) continue;
        found[name] = runtime === null ? Date.parse(startedAt) : await startOf(runtime.starts, containerID);
      }
      return found;
    },
    close: () => void runtime?.child.kill(),
  };
}

/** Moments of starts by id of the container, as they are told. */
function listen(program: string): { child: ChildProcess; starts: Map<string, number> } {
  const starts = new Map<string, number>();
  const child = spawn(program, ['--address', SOCKET, '--namespace', 'k8s.io', 'events'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, date, time, zone, body] = /^(\S+) (\S+) ([+-]\d{4}) \S+ \S+ \/tasks\/start (\{.*\})$/.exec(line) ?? [];
      if (body === undefined) continue;
      const at = Date.parse(`${date}T${time?.slice(0, 12)}${zone}`);
      starts.set(JSON.parse(body).container_id, at);
    }
  });
  return { child, starts };
}

async function startOf(starts: Map<string, number>, containerId: string): Promise<number> {
  const id = containerId.replace(/^.*:\/\//, '');
  for (const latest = Date.now() + EVENT_MS; Date.now() < latest; ) {
    const at = starts.get(id);
    if (at !== undefined) return at;
    await delay(50);
  }
  throw new Error(`the container runtime has told no start of ${id}`);
}
