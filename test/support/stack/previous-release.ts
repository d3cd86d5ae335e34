import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BuiltImage, bootstrapCommand, clusterStatus, loadImages } from '../kubernetes/cluster-command.ts';
import type { Release } from '../kubernetes/installed-chart.ts';

/** The release before this checkout's: the newest commit with other images, else this checkout with a mark. */
export interface PreviousRelease extends Release {
  /** Removes its sources, the chart among them; its images stay in the cache. */
  remove(): Promise<void>;
}

/** Builds it where that has not been done, loads it into the cluster, and says on stderr which it is. */
export async function previousRelease(): Promise<PreviousRelease> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-previous-release-'));
  const printed = await bootstrapCommand('previous-images', join(dir, 'sources'));
  const { from, images } = JSON.parse(printed) as { from: string; images: Record<string, BuiltImage> };
  process.stderr.write(`the previous release is ${from}: ${images.muster?.name}\n`);
  const { provider } = await clusterStatus();
  return {
    chart: join(dir, 'sources', 'deploy', 'chart', 'muster'),
    images: await loadImages(provider, images),
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}
