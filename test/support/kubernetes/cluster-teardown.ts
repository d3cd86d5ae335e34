import globalTeardown from '../stack/global-teardown.ts';

export default async function clusterTeardown(): Promise<void> {
  await (globalThis as { endTestCluster?: () => Promise<void> }).endTestCluster?.();
  await globalTeardown();
}
