import { type CustomResource, hasFinalizer, isDeleting } from './custom-resource.ts';
import type { ReconcileBegin } from './reconcile.ts';
import type { DrainMode } from './resource-words.ts';
import { periodOf } from './run-settings.ts';
import type { Script, WatchEntry } from './watch-entry.ts';

/** What a reconcile does with the resource as it is now. Decided once: whether the finalizer goes at the end follows from it. */
export type Begin =
  /** Nothing runs and nothing is written: the resource is gone, or goes and has no finalizer of ours. */
  | { does: 'end'; outcome: 'gone' | 'refused' }
  | { does: 'fail'; message: string }
  /** Nothing runs: the resource loses our finalizer, if it has it; null: it has not. */
  | { does: 'drain'; finalizers: string[] | null }
  | {
      does: 'run';
      /** The finalizer that the resource gets before it runs. */
      addFinalizer: string | null;
      finalizerRun: boolean;
      script: Script;
      /** After how long (s) it runs again when it was ok; null: never by itself. */
      periodSeconds: number | null;
    };

type BeginEntry = Pick<WatchEntry, 'finalizer' | 'playbook' | 'role' | 'reconcile_period_seconds'>;

/**
 * Returns what a reconcile does. `resource` is null where the API server has none. `drain`: somebody wants its finalizer to go, though the
 * resource stays.
 */
export function decideBegin(
  resource: CustomResource | null,
  entry: BeginEntry,
  defaultPeriodSeconds: number,
  drain: DrainMode | null = null,
): Begin {
  if (resource === null) return { does: 'end', outcome: 'gone' };
  const { finalizer } = entry;
  const carried = finalizer !== null && hasFinalizer(resource, finalizer.name);
  if (drain !== null && !carried) return { does: 'drain', finalizers: null };
  if (drain === 'now') {
    return {
      does: 'drain',
      finalizers: (resource.metadata.finalizers ?? []).filter((name) => name !== finalizer?.name),
    };
  }
  const period = periodOf(resource.metadata.annotations ?? {}, entry, defaultPeriodSeconds);
  if ('mistake' in period) return { does: 'fail', message: period.mistake };
  const deleting = isDeleting(resource);
  // Kubernetes takes no new finalizer for what is being deleted.
  if (deleting && !carried) return { does: 'end', outcome: 'refused' };
  const finalizerRun = deleting || drain === 'run';
  const own = finalizerRun && finalizer !== null && (finalizer.playbook !== null || finalizer.role !== null);
  const { playbook, role } = own ? finalizer : entry;
  return {
    does: 'run',
    addFinalizer: finalizer === null || carried ? null : finalizer.name,
    finalizerRun,
    script: { playbook, role },
    periodSeconds: period.seconds,
  };
}

type CancelledBegin = Extract<ReconcileBegin, { outcome: 'cancelled' }> | { does: 'end'; outcome: 'gone' };

/** Returns what a reconcile does that was cancelled before it began: nothing, and the resource runs again at its period. */
export function cancelledBegin(
  resource: CustomResource | null,
  entry: BeginEntry,
  defaultPeriodSeconds: number,
): CancelledBegin {
  if (resource === null) return { does: 'end', outcome: 'gone' };
  const period = periodOf(resource.metadata.annotations ?? {}, entry, defaultPeriodSeconds);
  return { does: 'end', outcome: 'cancelled', periodSeconds: 'mistake' in period ? null : period.seconds };
}
