import { LAYER_STATES, type LayerState, type StateAppend, type StateLayer, type StateLayerInput } from './schema.ts';

/** A commit with its status suffix split off: `abc_failed` is `abc`, failed; without one `status` is undefined (cfs-api 6.2). */
export function splitCommit(text: string): { commit: string; status: LayerState | undefined } {
  const at = text.lastIndexOf('_');
  const status = LAYER_STATES.find((state) => at >= 0 && state === text.slice(at + 1));
  return { commit: status === undefined ? text : text.slice(0, at), status };
}

/** The commit with its status as v2 shows it: applied has no suffix (cfs-api 6.2). */
export function joinCommit({ commit, status }: Pick<StateLayer, 'commit' | 'status'>): string {
  return status === 'applied' ? commit : `${commit}_${status}`;
}

/** The layer that a `state_append` means; a suffix of the commit wins over `status`, neither means applied. */
export function layerOfAppend(append: StateAppend, lastUpdated: string): StateLayer {
  const { commit, status } = splitCommit(append.commit);
  return {
    clone_url: append.clone_url,
    playbook: append.playbook,
    commit,
    status: status ?? append.status ?? 'applied',
    session_name: append.session_name ?? '',
    last_updated: lastUpdated,
  };
}

/**
 * The state with `layer` as its most recent report: what is stored for the same repository and playbook goes, whatever its
 * commit, and the new layer comes last (cfs-api 6.3.4).
 */
export function appendStateLayer(state: readonly StateLayer[], layer: StateLayer): StateLayer[] {
  const others = state.filter((entry) => entry.clone_url !== layer.clone_url || entry.playbook !== layer.playbook);
  return [...others, layer];
}

/**
 * The given layers with their times: now, or the stored one where a stored layer is equal in all other fields (cfs-api
 * 6.3.1).
 */
export function stampStateLayers(
  layers: readonly StateLayerInput[],
  stored: readonly StateLayer[],
  now: string,
): StateLayer[] {
  const times = new Map(stored.map((layer) => [identity(layer), layer.last_updated]));
  return layers.map(({ clone_url, playbook, commit, status, session_name }) => {
    const layer = { clone_url, playbook, commit, status, session_name };
    return { ...layer, last_updated: times.get(identity(layer)) ?? now };
  });
}

function identity(layer: Omit<StateLayer, 'last_updated'>): string {
  return JSON.stringify([layer.clone_url, layer.playbook, layer.commit, layer.status, layer.session_name]);
}
