/** Where an object is in the REST interface of a cluster. */
import type { Identity } from './manifest-identity.ts';

/** What discovery says of a kind. */
export interface ServedKind {
  plural: string;
  isNamespaced: boolean;
}

/** Returns the path of a group and version, whose answer lists its kinds. */
export function versionPath({ group, version }: Pick<Identity, 'group' | 'version'>): string {
  return group === '' ? `/api/${part(version)}` : `/apis/${part(group)}/${part(version)}`;
}

/** Returns the path of an object. `namespace`: that of a namespaced object that names none. */
export function objectPath(identity: Identity, served: ServedKind, namespace: string): string {
  const within = served.isNamespaced ? `/namespaces/${part(identity.namespace || namespace)}` : '';
  return `${versionPath(identity)}${within}/${part(served.plural)}/${part(identity.name)}`;
}

/** Returns the path of all objects of a kind, in every namespace. */
export function collectionPath(identity: Pick<Identity, 'group' | 'version'>, { plural }: ServedKind): string {
  return `${versionPath(identity)}/${part(plural)}`;
}

function part(text: string): string {
  return encodeURIComponent(text);
}
