import { type Environment, EnvironmentError } from '../config/environment.ts';
import type { ClusterJobs } from '../domain/sessions/cluster/cluster-job.ts';

/**
 * The Jobs of the cluster that this worker runs sessions on, or null where it has none. The driver is large, so it is loaded only
 * here. Throws `EnvironmentError` for settings that a cluster would refuse with every Job.
 */
export async function openCluster(env: Environment): Promise<ClusterJobs | null> {
  const { MUSTER_RUNNER_AEE_IMAGE: ansibleImage, MUSTER_RUNNER_UTIL_IMAGE: utilImage } = env;
  const ingestUrl = env.MUSTER_RUNNER_INGEST_URL;
  if (ansibleImage === undefined || utilImage === undefined || ingestUrl === undefined) return null;
  const { excessRequests } = await import('../drivers/kubernetes-runner/quantities.ts');
  const [excess] = excessRequests(env.MUSTER_RUNNER_REQUESTS, env.MUSTER_RUNNER_LIMITS);
  if (excess !== undefined) throw new EnvironmentError(`MUSTER_RUNNER_REQUESTS: ${excess} (MUSTER_RUNNER_LIMITS)`);
  const { openClusterJobs } = await import('../drivers/kubernetes-runner/kubernetes-runner.ts');
  return openClusterJobs({
    namespace: env.MUSTER_RUNNER_NAMESPACE,
    kubeconfig: env.MUSTER_RUNNER_KUBECONFIG ?? null,
    ansibleImage,
    utilImage,
    pullPolicy: env.MUSTER_RUNNER_PULL_POLICY,
    requests: env.MUSTER_RUNNER_REQUESTS,
    limits: env.MUSTER_RUNNER_LIMITS,
    nodeSelector: env.MUSTER_RUNNER_NODE_SELECTOR,
    tolerations: env.MUSTER_RUNNER_TOLERATIONS,
    serviceAccount: env.MUSTER_RUNNER_SERVICE_ACCOUNT ?? null,
    ingestUrl,
    apiUrl: env.MUSTER_RUNNER_API_URL ?? null,
    sidecarWait: env.MUSTER_RUNNER_SIDECAR_WAIT,
    warm: env.MUSTER_ANSIBLE_WARM === 'on',
    workspace: { size: env.MUSTER_RUNNER_WORKSPACE_SIZE, medium: env.MUSTER_RUNNER_WORKSPACE_MEDIUM },
  });
}
