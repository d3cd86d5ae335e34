/** Bundles of the workflows that all test files of a run use: to build one takes 3 s of a core. */
import { copyFile, mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { dataPaths } from '../../../config/data-paths.ts';
import { workflowBundle } from '../../../worker/workflow-bundle.ts';

/** The run's folder for them, which its set-up made; undefined: outside of a run. */
export function testBundles(): string | undefined {
  return process.env.MUSTER_TEST_BUNDLES;
}

/** Puts the bundle of these sources where a stack of this data directory looks for one before it builds its own. */
export async function putBundle(dataDir: string): Promise<void> {
  const folder = testBundles();
  if (folder === undefined) return;
  const bundle = await workflowBundle(folder, undefined);
  const { bundles } = dataPaths(dataDir);
  await mkdir(bundles, { recursive: true, mode: 0o700 });
  await copyFile(bundle, join(bundles, basename(bundle)));
}
