/** Resources of an app that wait for others of it, as their annotations say. */
import { isMusterError } from '../errors.ts';
import { inDependencyOrder, namesOf, type Waits } from './dependencies.ts';
import { at, type Members } from './members.ts';

/** Names the resources of the app that a manifest waits for, by their keys, separated by commas. */
export const WAIT_ANNOTATION = 'muster/wait-on';

export interface KeyedManifest {
  key: string;
  manifest: Members;
}

/** Returns what the resources wait for. What is no text is taken as one, so that it is refused and not ignored. */
export function resourceWaits(manifests: readonly KeyedManifest[]): Waits {
  const waits = new Map<string, string[]>();
  for (const { key, manifest } of manifests) {
    const said = at(manifest, 'metadata', 'annotations', WAIT_ANNOTATION) ?? '';
    const names = namesOf(typeof said === 'string' ? said : JSON.stringify(said));
    if (names.length > 0) waits.set(key, names);
  }
  return waits;
}

/** Throws `dependency_cycle` where an app cannot be put into order: it names a resource that the app has not, or a circle. */
export function checkResourceWaits(app: string, keys: readonly string[], waits: Waits): void {
  inDependencyOrder(keys, waits, `app ${app}: resource`, WAIT_ANNOTATION);
}

/**
 * Returns the manifests so that each stands behind all that it waits for, and otherwise in the given order. `problem`: why there is no order;
 * then they stay as they are.
 */
export function inWaitOrder<M extends KeyedManifest>(
  manifests: readonly M[],
): { ordered: readonly M[]; problem: string | null } {
  const waits = resourceWaits(manifests);
  if (waits.size === 0) return { ordered: manifests, problem: null };
  const byKey = new Map(manifests.map((manifest) => [manifest.key, manifest]));
  try {
    const keys = inDependencyOrder([...byKey.keys()], waits, 'resource', WAIT_ANNOTATION);
    return { ordered: keys.map((key) => byKey.get(key) as M), problem: null };
  } catch (error) {
    if (!isMusterError(error)) throw error;
    return { ordered: manifests, problem: error.detail };
  }
}
