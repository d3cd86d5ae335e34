import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { type GitHttpServer, startGitHttpServer } from '../git/git-http-server.ts';
import { type MusterStack, startMusterStack } from '../stack/muster-stack.ts';
import { hostAddress, imageName, kubeconfigPath, makeNamespace, type TestNamespace } from './dev-cluster.ts';

/** A whole stack whose sessions run as Jobs in a namespace of their own. */
export interface ClusterStack {
  stack: MusterStack;
  namespace: TestNamespace;
  git: GitHttpServer;
  /** URL of a repository of the stack, as pods reach it. */
  repositoryUrl(name: string): string;
  /** Names of the Jobs, pods and Secrets of sessions that are there. */
  leftovers(): Promise<string[]>;
  remove(): Promise<void>;
}

/** Requests that many pods find room for on a small node. */
export const SMALL = { requests: { cpu: '20m', memory: '64Mi' }, limits: { cpu: '2', memory: '512Mi' } };

const SMALL_PODS = {
  MUSTER_RUNNER_REQUESTS: JSON.stringify(SMALL.requests),
  MUSTER_RUNNER_LIMITS: JSON.stringify(SMALL.limits),
};

/** Starts it; `settings` are added to the stack's environment. `resources`: Muster's own defaults, or small ones (default). */
export async function startClusterStack(
  settings: Record<string, string> = {},
  resources: 'default' | 'small' = 'small',
): Promise<ClusterStack> {
  const namespace = await makeNamespace();
  const host = hostAddress();
  const ingestPort = await freePort();
  const stack = await startMusterStack({
    MUSTER_RUNNER: 'kubernetes',
    MUSTER_RUNNER_NAMESPACE: namespace.name,
    MUSTER_RUNNER_KUBECONFIG: kubeconfigPath(),
    MUSTER_RUNNER_AEE_IMAGE: imageName('aee'),
    MUSTER_RUNNER_UTIL_IMAGE: imageName('util'),
    MUSTER_RUNNER_PULL_POLICY: 'Never',
    ...(resources === 'small' ? SMALL_PODS : {}),
    MUSTER_RUNNER_INGEST_URL: `http://${host}:${ingestPort}`,
    MUSTER_INGEST_PORT: String(ingestPort),
    MUSTER_INGEST_HOST: host,
    ...settings,
  });
  const git = await startGitHttpServer({ root: join(stack.dataDir, 'repositories'), host });
  return {
    stack,
    namespace,
    git,
    repositoryUrl: (name) => `${git.origin}/${name}`,
    leftovers: () => namespace.names('jobs', 'pods', 'secrets'),
    remove: async () => {
      await git.stop();
      await stack.remove();
      await namespace.remove();
    },
  };
}
