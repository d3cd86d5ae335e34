import { type MusterError, musterError } from '../errors.ts';
import { maskAddress, secretInAddress } from './address-secrets.ts';
import type { AdditionalInventory, ConfigurationBody, Layer } from './schema.ts';

/** A layer, or the additional inventory, and where it stands in the body. */
export interface LayerAt<T extends AdditionalInventory = AdditionalInventory> {
  layer: T;
  path: string;
}

/** The layers of a configuration and its additional inventory, in the order in which they are checked (cfs-api 11). */
export function layersOf(body: Pick<ConfigurationBody, 'layers' | 'additional_inventory'>): LayerAt[] {
  const layers: LayerAt[] = body.layers.map((layer, index) => ({ layer, path: `layers.${index}` }));
  if (body.additional_inventory) layers.push({ layer: body.additional_inventory, path: 'additional_inventory' });
  return layers;
}

/** The first rule that a layer breaks, or null; `sources` are the names that exist. Empty text counts as absent. */
export function layerMistake({ layer, path }: LayerAt, sources: ReadonlySet<string>): MusterError | null {
  if (layer.source && layer.clone_url) {
    return musterError('source_or_url', 'A layer has either source or clone_url, not both', path);
  }
  if (!layer.source && !layer.clone_url) return musterError('source_or_url', 'A layer needs source or clone_url', path);
  if (layer.branch && layer.commit) {
    return musterError('branch_and_commit', 'A layer has either branch or commit, not both', path);
  }
  if (layer.source && !sources.has(layer.source)) return sourceUnknown(layer.source);
  const { playbook } = layer as Layer;
  if (playbook !== undefined && leavesLayer(playbook)) {
    const fix = 'name a playbook of the repository by its path in it, without a slash at the beginning';
    return musterError(
      'bad_request',
      `The playbook ${playbook} lies outside of the repository: ${fix}`,
      `${path}.playbook`,
    );
  }
  return null;
}

/** Whether a path, read step by step, climbs out of the folder it begins in. */
function leavesLayer(playbook: string): boolean {
  if (playbook.startsWith('/')) return true;
  let depth = 0;
  for (const step of playbook.split('/')) {
    if (step === '..') depth -= 1;
    else if (step !== '' && step !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

/** Returns the refusal of a name that no source has. */
export function sourceUnknown(name: string): MusterError {
  return musterError('source_unknown', `The source ${name} does not exist.`);
}

/**
 * Returns what was found under the name of a source.
 * Throws `source_unknown` where nothing was.
 */
export function foundSource<T>(name: string, found: T | null | undefined): T {
  if (found === null || found === undefined) throw sourceUnknown(name);
  return found;
}

/**
 * Refuses two layers of one repository and playbook: their states could not be told apart. A source is its URL, given by
 * `urls` for each name, since that is what states are compared by. A layer without playbook runs `defaultPlaybook`.
 */
export function conflictingLayers(
  layers: readonly Layer[],
  urls: ReadonlyMap<string, string>,
  defaultPlaybook: string,
): MusterError | null {
  const seen = new Map<string, number>();
  for (const [index, layer] of layers.entries()) {
    const { source } = layer;
    const repository = source ? (urls.get(source) ?? source) : (layer.clone_url ?? '');
    const playbook = layer.playbook || defaultPlaybook;
    const key = JSON.stringify([repository, playbook]);
    const first = seen.get(key);
    if (first !== undefined) {
      const detail = `Layers ${first} and ${index} have the same repository ${maskAddress(repository)} and playbook ${playbook}`;
      return musterError('conflicting_layers', detail);
    }
    seen.set(key, index);
  }
  return null;
}

/** The refusal of the first address that has a secret in it, or null. */
export function layerSecret(body: Pick<ConfigurationBody, 'layers' | 'additional_inventory'>): MusterError | null {
  for (const { layer, path } of layersOf(body)) {
    const mistake = secretInAddress(layer.clone_url, `${path}.clone_url`);
    if (mistake !== null) return mistake;
  }
  return null;
}

/** The layer without members that are empty text, which mean the same as absent ones. */
export function withoutEmpty<T extends AdditionalInventory>(layer: T): T {
  const { source, clone_url, branch, ...rest } = layer;
  return {
    ...rest,
    ...(clone_url ? { clone_url } : {}),
    ...(source ? { source } : {}),
    ...(branch ? { branch } : {}),
  } as T;
}
