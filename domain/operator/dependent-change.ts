/** Which events of dependents make their owners run, and who the owners are. */
import { isJsonMap } from './custom-resource.ts';
import type { Gvk } from './names.ts';
import { groupVersionOf } from './names.ts';
import { OWNER_ANNOTATION, OWNER_TYPE_ANNOTATION, ownerType } from './owner-mark.ts';

type Json = Readonly<Record<string, unknown>>;

/** Returns an object without what changes by itself: status, resourceVersion, and the times of its managed fields. */
export function comparableDependent(object: Json): Json {
  const { status: _status, ...rest } = object;
  if (!isJsonMap(rest.metadata)) return rest;
  const { resourceVersion: _version, managedFields, ...metadata } = rest.metadata;
  if (!Array.isArray(managedFields)) return { ...rest, metadata };
  const timeless = managedFields.map((field: unknown) => {
    if (!isJsonMap(field)) return field;
    const { time: _time, ...others } = field;
    return others;
  });
  return { ...rest, metadata: { ...metadata, managedFields: timeless } };
}

/** Returns JSON text that is the same for equal data, whatever the order of keys: for comparing, and for hashes. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    isJsonMap(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
}

/** Returns who has changed an object last, as its managed fields say; undefined where they do not. Changes of the status alone do not count. */
export function lastManager({ metadata }: Json): string | undefined {
  const fields = isJsonMap(metadata) && Array.isArray(metadata.managedFields) ? metadata.managedFields : [];
  let last: { manager: string; time: string } | undefined;
  for (const field of fields) {
    if (!isJsonMap(field) || field.subresource === 'status') continue;
    const { manager, time } = field;
    if (typeof manager !== 'string' || typeof time !== 'string') continue;
    if (last === undefined || time >= last.time) last = { manager, time };
  }
  return last?.manager;
}

export type DependentEvent = { type: 'created' } | { type: 'deleted' } | { type: 'updated'; before: Json; now: Json };

/** Whether an event of a dependent makes its owners run. */
export function dependentTriggers(event: DependentEvent): boolean {
  if (event.type !== 'updated') return event.type === 'deleted';
  return canonicalText(comparableDependent(event.before)) !== canonicalText(comparableDependent(event.now));
}

export interface WatchedKind extends Pick<Gvk, 'group' | 'kind'> {
  /** Whether resources of the watched kind have a namespace. */
  namespaced: boolean;
}

/** Namespace and name of a resource; the namespace is empty for cluster-scoped ones. */
export interface ResourceName {
  namespace: string;
  name: string;
}

/** Returns the resources of the watched kind that an object names as its owners, by owner references and by annotations. */
export function ownersOf(object: Json, watched: WatchedKind): ResourceName[] {
  const metadata = isJsonMap(object.metadata) ? object.metadata : {};
  const namespace = watched.namespaced && typeof metadata.namespace === 'string' ? metadata.namespace : '';
  const references = Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences : [];
  const referenced = references.flatMap((reference: unknown) => {
    if (!isJsonMap(reference)) return [];
    const { apiVersion, kind, name } = reference;
    const group = typeof apiVersion === 'string' ? groupVersionOf(apiVersion)?.group : undefined;
    if (kind !== watched.kind || group !== watched.group || typeof name !== 'string') return [];
    return [{ namespace, name }];
  });
  return unique([...referenced, ...annotatedOwner(metadata.annotations, watched)]);
}

/** Returns the owners that are to run after an event: those that either state of the object names. */
export function ownersToRun(objects: readonly Json[], watched: WatchedKind): ResourceName[] {
  return unique(objects.flatMap((object) => ownersOf(object, watched)));
}

function annotatedOwner(annotations: unknown, watched: WatchedKind): ResourceName[] {
  if (!isJsonMap(annotations) || annotations[OWNER_TYPE_ANNOTATION] !== ownerType(watched)) return [];
  const owner = annotations[OWNER_ANNOTATION];
  const [first = '', second, ...more] = typeof owner === 'string' ? owner.split('/') : [];
  if (more.length > 0) return [];
  const found = second === undefined ? { namespace: '', name: first } : { namespace: first, name: second };
  return found.name === '' ? [] : [found];
}

function unique(names: ResourceName[]): ResourceName[] {
  return [...new Map(names.map((name) => [`${name.namespace}/${name.name}`, name])).values()];
}
