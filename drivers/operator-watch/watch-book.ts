import type { NotedObject } from '../../domain/operator/note-object.ts';
import { ownAnnotationsOf } from '../../domain/operator/own-annotations.ts';
import type { SeenResource } from '../../domain/operator/trigger.ts';

/** What is held of an object: as little as the rules need, for there may be many thousands. */
export interface BookedObject extends SeenResource, NotedObject {
  /** RFC 3339; null where the cluster does not say so. */
  createdAt: string | null;
}

/** An object as lists and watches tell of it. */
export interface ToldObject {
  metadata: {
    name: string;
    namespace?: string;
    uid: string;
    generation?: number;
    creationTimestamp?: string;
    resourceVersion: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    deletionTimestamp?: string;
  };
}

const NONE: Readonly<Record<string, string>> = {};

/** Returns what is held of an object. `marksAnnotations`: a change of its annotations counts. */
export function bookedOf(
  { metadata }: ToldObject,
  marksAnnotations: boolean,
  digest: (text: string) => string,
): BookedObject {
  const { name, namespace = '', uid, generation = 0, resourceVersion, labels = NONE } = metadata;
  const annotations = marksAnnotations ? digest(JSON.stringify(Object.entries(metadata.annotations ?? {}).sort())) : '';
  return {
    name,
    namespace,
    uid,
    generation,
    labels,
    annotations,
    createdAt: metadata.creationTimestamp ?? null,
    // A kind without generation tells of each change by its version alone.
    mark: generation === 0 ? resourceVersion : annotations,
    deleting: metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null,
    own: ownAnnotationsOf(metadata.annotations ?? NONE, digest),
  };
}

export const keyOf = ({ namespace, name }: Pick<NotedObject, 'namespace' | 'name'>): string => `${namespace}/${name}`;
