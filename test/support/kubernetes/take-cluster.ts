import { join } from 'node:path';
import { holdOnMachine } from '../stack/machine-lock.ts';
import {
  type BuiltImage,
  bootstrapCommand,
  CLUSTER_LOCK,
  clusterCommand,
  clusterStatus,
  FOR_TESTS,
  loadImages,
} from './cluster-command.ts';

/**
 * Brings the cluster up with the images of this checkout in it, and names all in the environment. A cluster that was up before is
 * shared and stays up. What is started here belongs to one run at a time, and ends with what this answers.
 */
export async function takeCluster(): Promise<() => Promise<void>> {
  const release = await holdOnMachine(CLUSTER_LOCK, () => {
    process.stderr.write('waiting for the tests of another checkout that have a cluster on this machine\n');
  });
  const before = await clusterStatus();
  // One that is up for tests although nobody holds it is left over from a run that was killed.
  const owned = before.provider !== 'existing' && (!before.up || before.for === FOR_TESTS);
  if (!owned) await release();
  const end = async () => {
    if (!owned) return;
    if (process.env.MUSTER_TEST_KEEP_CLUSTER !== '1') await clusterCommand('down');
    await release();
  };
  process.env.MUSTER_TEST_CLUSTER_OWNED = owned ? '1' : '';
  try {
    await bringUp();
  } catch (error) {
    await end();
    throw error;
  }
  return end;
}

async function bringUp(): Promise<void> {
  const programs = await bootstrapCommand('cluster-programs', 'kubectl', 'helm');
  process.env.MUSTER_TEST_KUBECTL = join(programs, 'kubectl');
  process.env.MUSTER_TEST_HELM = join(programs, 'helm');
  await clusterCommand('up');
  const { kubeconfig, host, provider } = await clusterStatus();
  process.env.MUSTER_TEST_CLUSTER = kubeconfig;
  process.env.MUSTER_TEST_CLUSTER_HOST = host;
  if (process.env.MUSTER_TEST_IMAGES !== undefined) return;
  const images = JSON.parse(await bootstrapCommand('images')) as Record<string, BuiltImage>;
  process.env.MUSTER_TEST_IMAGES = JSON.stringify(await loadImages(provider, images));
}
