/** Names of a manifest: Muster's identity is group, kind, namespace and name; EMCO's key is name and kind. */
import { musterError } from '../errors.ts';
import { type Members, textAt } from './members.ts';

export interface Identity {
  group: string;
  version: string;
  kind: string;
  /** Empty where the manifest names none. */
  namespace: string;
  name: string;
}

/** Where a manifest stands. */
export interface Place {
  path: string;
  /** Counted from 0. */
  document: number;
}

/** Returns the names of a manifest. Throws nothing: what is no text is empty. */
export function identityOf(manifest: Members): Identity {
  const [one = '', two] = textAt(manifest, 'apiVersion').split('/');
  return {
    group: two === undefined ? '' : one,
    version: two ?? one,
    kind: textAt(manifest, 'kind'),
    namespace: textAt(manifest, 'metadata', 'namespace'),
    name: textAt(manifest, 'metadata', 'name'),
  };
}

/** Returns `name+Kind`. */
export function keyOf({ name, kind }: Pick<Identity, 'name' | 'kind'>): string {
  return `${name}+${kind}`;
}

/** Returns the keys of an app's manifests; a later one whose key is taken has group and namespace in its key. */
export function keysOf(identities: readonly Identity[]): string[] {
  const taken = new Set<string>();
  return identities.map((identity) => {
    const short = keyOf(identity);
    const key = taken.has(short) ? `${short}+${identity.group}+${identity.namespace}` : short;
    taken.add(key);
    return key;
  });
}

/** Throws `render_failed` with both places when an app has the same object twice. */
export function checkDistinct(manifests: readonly { identity: Identity; place: Place }[]): void {
  const seen = new Map<string, Place>();
  for (const { identity, place } of manifests) {
    const { group, kind, namespace, name } = identity;
    const id = [group, kind, namespace, name].join('/');
    const first = seen.get(id);
    if (first !== undefined) {
      throw musterError(
        'render_failed',
        `${kind} '${name}' is there twice: in ${placeText(first)} and in ${placeText(place)}`,
      );
    }
    seen.set(id, place);
  }
}

/** Returns a place for people. */
export function placeText({ path, document }: Place): string {
  return `${path}, document ${document}`;
}
