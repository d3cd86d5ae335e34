/** How objects that a playbook creates are marked as dependents of its resource. */
import { isJsonMap } from './custom-resource.ts';
import type { Gvk } from './names.ts';
import type { OwnerText } from './owner-text.ts';
import type { RequestInfo } from './request-info.ts';
import type { WatchEntry } from './watch-entry.ts';

export const OWNER_ANNOTATION = 'operator-sdk/primary-resource';
export const OWNER_TYPE_ANNOTATION = 'operator-sdk/primary-resource-type';

/** Kubernetes removes dependents with an owner reference together with the owner; those with annotations the playbook must remove. */
export type OwnerMark = 'owner_reference' | 'annotations';

/** A kind as discovery has it. */
export interface DiscoveredResource {
  namespaced: boolean;
  verbs: readonly string[];
}

/** Returns the value of the annotation that names the kind of an owner. */
export function ownerType({ group, kind }: Pick<Gvk, 'group' | 'kind'>): string {
  return group === '' ? kind : `${kind}.${group}`;
}

const APPLY = 'application/apply-patch+yaml';
const REAL = ['get', 'list', 'watch'];

/**
 * Returns what the proxy does with a request before it forwards it: nothing, mark the object of its body, or, for a server-side apply,
 * mark it if the object is absent or bears the mark of this owner already. Subresources, resources that cannot be read, and those that
 * discovery does not know are forwarded as they are.
 */
export function markingOf(
  method: string,
  contentType: string,
  request: RequestInfo | null,
  resource: DiscoveredResource | null,
): 'forward' | 'mark' | 'mark_if_ours' {
  if (request === null || request.subresource !== '' || resource === null) return 'forward';
  if (!isRealKind(resource)) return 'forward';
  if (method === 'POST' && request.verb === 'create') return 'mark';
  return isApply(method, contentType) && request.name !== '' ? 'mark_if_ours' : 'forward';
}

/** Whether the mark of a request depends on its kind: others go on though the kinds cannot be read. */
export function mayBeMarked(method: string, contentType: string, request: RequestInfo | null): request is RequestInfo {
  return request !== null && request.subresource === '' && (method === 'POST' || isApply(method, contentType));
}

function isApply(method: string, contentType: string): boolean {
  return method === 'PATCH' && contentType.split(';')[0]?.trim().toLowerCase() === APPLY;
}

/** Whether objects of a kind can be read back; others, such as selfsubjectaccessreviews, are questions. */
export function isRealKind({ verbs }: Pick<DiscoveredResource, 'verbs'>): boolean {
  return REAL.every((verb) => verbs.includes(verb));
}

/** Returns how an object is marked. `namespace`: that of the URL, else that of the object; empty for cluster-scoped objects. */
export function markOf(owner: Pick<OwnerText, 'namespace'>, namespaced: boolean, namespace: string): OwnerMark {
  return owner.namespace === '' || (namespaced && namespace === owner.namespace) ? 'owner_reference' : 'annotations';
}

/**
 * Returns the object with the mark of its owner; what else it has stays.
 * Throws TypeError where its metadata, owner references or annotations have another form.
 */
export function markObject(object: Readonly<Record<string, unknown>>, owner: OwnerText, mark: OwnerMark) {
  const metadata = object.metadata ?? {};
  if (!isJsonMap(metadata)) throw new TypeError('metadata is no map');
  if (mark === 'owner_reference') {
    const references = metadata.ownerReferences ?? [];
    if (!Array.isArray(references)) throw new TypeError('metadata.ownerReferences is no list');
    const { apiVersion, kind, name, uid } = owner;
    return { ...object, metadata: { ...metadata, ownerReferences: [...references, { apiVersion, kind, name, uid }] } };
  }
  const annotations = metadata.annotations ?? {};
  if (!isJsonMap(annotations)) throw new TypeError('metadata.annotations is no map');
  const added = {
    [OWNER_ANNOTATION]: `${owner.namespace}/${owner.name}`,
    [OWNER_TYPE_ANNOTATION]: ownerType({ group: groupOf(owner.apiVersion), kind: owner.kind }),
  };
  return { ...object, metadata: { ...metadata, annotations: { ...annotations, ...added } } };
}

/** Whether an object bears the mark of this owner, by uid or by annotations. */
export function bearsMark(object: Readonly<Record<string, unknown>>, owner: OwnerText): boolean {
  const metadata = isJsonMap(object.metadata) ? object.metadata : {};
  const references = Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences : [];
  const annotations = isJsonMap(metadata.annotations) ? metadata.annotations : {};
  return (
    references.some((reference: unknown) => isJsonMap(reference) && reference.uid === owner.uid) ||
    (annotations[OWNER_ANNOTATION] === `${owner.namespace}/${owner.name}` &&
      annotations[OWNER_TYPE_ANNOTATION] === ownerType({ group: groupOf(owner.apiVersion), kind: owner.kind }))
  );
}

/** Whether the kind of a marked object is watched from then on. */
export function watchesDependent(
  entry: Pick<WatchEntry, 'watch_dependent_resources' | 'watch_cluster_scoped_resources' | 'blacklist'>,
  object: Gvk & { namespaced: boolean },
  mark: OwnerMark,
): boolean {
  const { group, version, kind } = object;
  const isBlack = entry.blacklist.some(
    (black) => black.group === group && black.version === version && black.kind === kind,
  );
  if (!entry.watch_dependent_resources || isBlack) return false;
  return mark === 'owner_reference' || object.namespaced || entry.watch_cluster_scoped_resources;
}

const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '');
