/** What is known of an object, and whether it makes its resource run. */
import type { CauseType } from './cause.ts';
import { asksAgain, type OwnAnnotations } from './own-annotations.ts';
import type { ReconcileOutcome } from './resource-words.ts';
import type { Resync } from './watch-entry.ts';

/** An object as a list or a watch tells of it. */
export interface NotedObject {
  namespace: string;
  name: string;
  uid: string;
  generation: number;
  /** Tells one state from another where the generation does not: of kinds without generation, and of annotations that are watched. */
  mark: string;
  deleting: boolean;
  /** Whether the selector takes it again, by its labels alone: that makes nothing run, and what was never on record stays so. */
  isBack?: boolean;
  /** What Muster's own annotations say; null: it has none of them. */
  own?: OwnAnnotations | null;
}

/** The resource of an object, as it is on record. */
export interface NotedResource {
  generation: number;
  mark: string;
  deleting: boolean;
  doneGeneration: number | null;
  doneMark: string | null;
  doneHash: string | null;
  lastOutcome: ReconcileOutcome | null;
  /** Whether a reconcile of it is open. */
  isOpen: boolean;
  /** The generation that the open reconcile has read; null before it has. */
  readGeneration: number | null;
  /** Whether it is to run by now. */
  isDue: boolean;
  own?: OwnAnnotations | null;
}

interface Noting {
  /** Whether this is the first list after a start: what happened before it was not seen. */
  isFirst: boolean;
  entryHash: string;
  resync: Resync;
}

/** Returns why an object makes its resource run; null: it does not. `resource` is null for an object that is seen for the first time. */
export function causeOfNote(resource: NotedResource | null, object: NotedObject, noting: Noting): CauseType | null {
  if (resource === null) return object.deleting ? 'deleted' : 'created';
  if (object.deleting && !resource.deleting) return 'deleted';
  if (object.mark !== resource.mark) return 'changed';
  // A reconcile may have read it before the watch told of it, and may even be over.
  const read = Math.max(resource.readGeneration ?? -1, resource.doneGeneration ?? -1);
  if (object.generation !== resource.generation && object.generation > read) return 'changed';
  if (asksAgain(resource.own, object.own)) return 'manual';
  return noting.isFirst && !resource.isOpen && !resource.isDue ? causeOfStart(resource, object, noting) : null;
}

function causeOfStart(resource: NotedResource, object: NotedObject, { entryHash, resync }: Noting): CauseType | null {
  if (object.deleting) return 'deleted';
  if (resource.doneGeneration !== object.generation || resource.doneMark !== object.mark) return 'changed';
  if (resource.lastOutcome === 'failed' || resource.lastOutcome === 'interrupted') return 'retry';
  if (resource.doneHash !== entryHash) return 'config';
  return resync === 'always' ? 'resync' : null;
}
