import type { Snapshot } from './schema.ts';

/**
 * The single argument of the `ansible` container: JSON array of the selected layers, each with its index as text (cfs-flows 1.4).
 * URLs are those of the sources, so that the state that a runner reports can be compared (cfs-flows 4.1).
 */
export function layersArgument({ layers, debug_playbook: debug }: Snapshot): string {
  if (debug !== null)
    return JSON.stringify([{ layer: '_debug', clone_url: '', playbook: `${debug}.yaml`, commit: '' }]);
  return JSON.stringify(
    layers.map(({ index, name, url, playbook, commit }) => ({
      ...(name === null ? {} : { name }),
      clone_url: url,
      playbook,
      commit,
      layer: String(index),
    })),
  );
}
