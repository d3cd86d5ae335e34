/** What an operator's process counts, for its metrics. */
import type { Gvk } from './names.ts';
import type { ReconcileOutcome } from './resource-words.ts';

/** An object that exists since a time. */
export interface SeenObject {
  namespace: string;
  name: string;
  uid: string;
  /** RFC 3339; null where the cluster does not say so. */
  createdAt: string | null;
}

export interface OperatorMeters {
  /** A reconcile has ended, `seconds` after it began. `requeues`: whether it has a time at which it runs again. */
  ended(kind: Gvk, end: { outcome: ReconcileOutcome; seconds: number; requeues: boolean }): void;
  /** Objects of a kind are there. */
  seen(kind: Gvk, objects: readonly SeenObject[]): void;
  /** Objects of a kind are no more, by their uids. */
  gone(kind: Gvk, uids: readonly string[]): void;
  /** An Event could not be written. */
  noticeLost(): void;
}

/** Returns the word for a reconcile's end that Kubernetes' controllers use. */
export function resultWord(
  outcome: ReconcileOutcome,
  requeues: boolean,
): 'success' | 'error' | 'requeue' | 'requeue_after' {
  if (outcome === 'failed') return 'error';
  if (outcome === 'interrupted') return 'requeue';
  return requeues ? 'requeue_after' : 'success';
}
