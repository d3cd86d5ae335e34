import type { RunnerProfile } from './cluster/cluster-job.ts';
import type { Snapshot } from './schema.ts';

/** User and password of an address. One that is malformed may be so just where its password ends, so all up to the last `@` goes. */
const CREDENTIALS = /^([A-Za-z][A-Za-z0-9+.-]*:\/\/).*@/;

/**
 * The single argument of the `ansible` container: JSON array of the selected layers, each with its index as text (cfs-flows 1.4).
 * URLs are those of the sources, so that the state that a runner reports can be compared (cfs-flows 4.1). Our own image reads nothing
 * of it, so there they have no credentials: whoever may read Jobs sees it.
 */
export function layersArgument({ layers, debug_playbook: debug }: Snapshot, profile: RunnerProfile): string {
  if (debug !== null)
    return JSON.stringify([{ layer: '_debug', clone_url: '', playbook: `${debug}.yaml`, commit: '' }]);
  return JSON.stringify(
    layers.map(({ index, name, url, playbook, commit }) => ({
      ...(name === null ? {} : { name }),
      clone_url: profile === 'restricted' ? url.replace(CREDENTIALS, '$1') : url,
      playbook,
      commit,
      layer: String(index),
    })),
  );
}
