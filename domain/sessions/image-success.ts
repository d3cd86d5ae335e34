/** Which images of a session are good: by what Ansible says of each, not by the exit status of all (cfs-flows 8, rule 8). */

/** The last run of one layer. */
export interface ImageLayer {
  layer: number;
  /** Null: no run of it ended, or nobody knows how. */
  exitCode: number | null;
  /** What each image reached in it, by the image's id; images without a result are absent. */
  results: ReadonlyMap<string, 'applied' | 'failed' | 'incomplete'>;
}

/** Ansible's exit status when hosts failed (2) or could not be reached (4) while others went on. */
const HOSTS_FAILED: readonly number[] = [2, 4, 6];

/**
 * Why an image must not become a new one, or null when it is good: every layer that was to run has run to its end, and none
 * failed on it. In a layer that failed somewhere, an image without a result of its own is not known to be good.
 * @param selected layers that were to run, in order
 * @param layers what ran, by layer
 */
export function imageFault(image: string, selected: readonly number[], layers: readonly ImageLayer[]): string | null {
  for (const index of selected) {
    const run = layers.find(({ layer }) => layer === index);
    if (run === undefined) return `layer ${index} did not run`;
    const result = run.results.get(image);
    if (run.exitCode === null) return `nobody knows how layer ${index} ended`;
    if (result !== undefined && result !== 'applied')
      return `layer ${index} ${result === 'failed' ? 'failed' : 'is incomplete'}`;
    if (run.exitCode === 0) continue;
    if (!HOSTS_FAILED.includes(run.exitCode)) return `layer ${index} ended with exit status ${run.exitCode}`;
    if (result === undefined) return `layer ${index} failed before it came to this image`;
  }
  return null;
}
