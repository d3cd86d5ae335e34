import { randomUUID } from 'node:crypto';
import type { ClusterJobs, JobSpec } from '../../../domain/sessions/cluster/cluster-job.ts';
import { openClusterAccess } from '../../../drivers/kubernetes/cluster-access.ts';
import {
  type ClusterClient,
  type ClusterRequest,
  createClusterClient,
} from '../../../drivers/kubernetes/cluster-client.ts';
import type { WatchPatience } from '../../../drivers/kubernetes-runner/job-watch.ts';
import { createClusterJobs } from '../../../drivers/kubernetes-runner/kubernetes-runner.ts';
import type { RunnerSettings } from '../../../drivers/kubernetes-runner/runner-settings.ts';
import { imageName, kubeconfigPath } from './dev-cluster.ts';

/** Commands of a shell by container, whose `$0` is the container's argument; those without one do nothing, with success. */
export type Scripts = Record<string, string>;

interface JobBody {
  kind: string;
  spec: {
    template: {
      spec: Record<'initContainers' | 'containers', { name: string; command?: string[]; args?: string[] }[]>;
    };
  };
}

/** Settings with small requests, so that many Jobs fit on a small node. */
export function smallSettings(namespace: string, more: Partial<RunnerSettings> = {}): RunnerSettings {
  return {
    namespace,
    kubeconfig: kubeconfigPath(),
    ansibleImage: imageName('util'),
    utilImage: imageName('util'),
    pullPolicy: 'IfNotPresent',
    requests: { cpu: '10m', memory: '32Mi' },
    limits: { cpu: '1', memory: '128Mi' },
    nodeSelector: {},
    tolerations: [],
    serviceAccount: null,
    ingestUrl: 'http://10.88.0.1:1',
    apiUrl: null,
    sidecarWait: false,
    workspace: { size: '64Mi', medium: '' },
    ...more,
  };
}

/** What a session's Job is made from; a name of its own each time. */
export function jobSpec(more: Partial<JobSpec> = {}): JobSpec {
  return {
    name: `cfs-${randomUUID()}`,
    sessionId: randomUUID(),
    sessionName: 'night-run',
    configurationName: 'base',
    profile: 'restricted',
    image: false,
    ansibleArgs: '',
    inventoryType: 'dynamic',
    stateRecordingDisabled: false,
    configurationLimit: '',
    debugWaitSeconds: 0,
    layersArgument: '[]',
    logLevel: 'INFO',
    vaultAddress: '',
    ttlSeconds: null,
    deadlineSeconds: null,
    extraVarsFiles: 0,
    secret: { token: 'a-token', 'credentials.json': '[]', 'ansible.cfg': '[defaults]\n' },
    ...more,
  };
}

export interface ScriptedJobs {
  jobs: ClusterJobs;
  /** Paths of the answers that go on which are open now. */
  open: string[];
}

/**
 * The real driver on a real cluster whose containers run scripts instead of their programs: all else of the Job is as the driver
 * makes it. `before` sees each request before it is sent and may refuse it.
 */
export function scriptedJobs(
  settings: RunnerSettings,
  scripts: Scripts,
  before: (request: ClusterRequest) => void = () => {},
  patience?: WatchPatience,
): ScriptedJobs {
  const open: string[] = [];
  const real = createClusterClient(openClusterAccess(settings.kubeconfig));
  const client: ClusterClient = {
    async ask<T>(request: ClusterRequest) {
      before(request);
      return await real.ask<T>({ ...request, ...rewritten(request, scripts) });
    },
    async open(path, ...how) {
      const answer = await real.open(path, ...how);
      open.push(path);
      return counted(answer, () => open.splice(open.indexOf(path), 1));
    },
  };
  return { jobs: createClusterJobs(client, settings, patience), open };
}

function rewritten({ method, body }: ClusterRequest, scripts: Scripts): { body?: unknown } {
  if (method !== 'POST' || (body as { kind?: string }).kind !== 'Job') return {};
  const job = structuredClone(body) as JobBody;
  const { initContainers, containers } = job.spec.template.spec;
  for (const container of [...initContainers, ...containers]) {
    container.command = ['/bin/sh', '-c', scripts[container.name] ?? 'true'];
  }
  return { body: job };
}

async function* counted(answer: AsyncIterable<Buffer>, over: () => void): AsyncGenerator<Buffer> {
  try {
    yield* answer;
  } finally {
    over();
  }
}
