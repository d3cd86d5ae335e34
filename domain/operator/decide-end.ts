import { type CustomResource, hasFinalizer, isDeleting } from './custom-resource.ts';
import type { Outcome } from './outcome.ts';
import type { WatchEntry } from './watch-entry.ts';

/** What the status says of a reconcile that somebody has cancelled. */
export const cancelledText = (by: string): string => `Reconciliation cancelled by ${by}`;

/** What a reconcile knew when it began. */
export interface Began {
  uid: string;
  finalizerRun: boolean;
  periodSeconds: number | null;
}

/** How its run ended. */
export type Ended = Pick<Outcome, 'outcome' | 'messages' | 'requeue'> | { outcome: 'cancelled'; by: string };

/** When the resource runs again without an event. */
export type Next =
  | { when: 'event' }
  | { when: 'after'; seconds: number; reason: 'period' | 'requeue' }
  /** The finalizer's run begins at once. */
  | { when: 'now' }
  | { when: 'back_off' };

export interface End {
  outcome: 'ok' | 'failed' | 'cancelled' | 'gone';
  /** Lines of the status; empty when it was ok or nothing is to be said. */
  messages: string[];
  /** The finalizers of the resource from now on; null: as they are. */
  finalizers: string[] | null;
  /** Which status is written. */
  status: 'succeeded' | 'failed' | null;
  next: Next;
}

/**
 * Returns how a reconcile ends. `resource` is read anew after the run; null where there is none. A resource with another uid was made again
 * meanwhile: nothing is written to it.
 */
export function decideEnd(
  resource: CustomResource | null,
  began: Began,
  entry: Pick<WatchEntry, 'finalizer' | 'manage_status'>,
  ended: Ended,
): End {
  if (resource === null || resource.metadata.uid !== began.uid) {
    return { outcome: 'gone', messages: [], finalizers: null, status: null, next: { when: 'event' } };
  }
  const written = <T extends End['status']>(status: T): T | null => (entry.manage_status ? status : null);
  if (ended.outcome === 'cancelled') {
    const messages = [cancelledText(ended.by)];
    return { outcome: 'cancelled', messages, finalizers: null, status: written('failed'), next: timer(began, null) };
  }
  const { messages } = ended;
  if (ended.outcome === 'failed') {
    return { outcome: 'failed', messages, finalizers: null, status: written('failed'), next: { when: 'back_off' } };
  }
  const name = entry.finalizer?.name;
  const carried = name !== undefined && hasFinalizer(resource, name);
  return {
    outcome: 'ok',
    messages: [],
    finalizers:
      began.finalizerRun && carried ? (resource.metadata.finalizers ?? []).filter((other) => other !== name) : null,
    status: written('succeeded'),
    next: !began.finalizerRun && carried && isDeleting(resource) ? { when: 'now' } : timer(began, ended.requeue),
  };
}

/** Returns when a resource runs again by its period, or as its playbook asked for (`requeue`, s). */
export function timer({ periodSeconds }: Pick<Began, 'periodSeconds'>, requeue: number | null): Next {
  const seconds = requeue ?? periodSeconds ?? 0;
  if (seconds <= 0) return { when: 'event' };
  return { when: 'after', seconds, reason: requeue === null ? 'period' : 'requeue' };
}
