import { type CustomResource, hasFinalizer, isDeleting } from './custom-resource.ts';
import { periodOf } from './run-settings.ts';
import type { Script, WatchEntry } from './watch-entry.ts';

/** What a reconcile does with the resource as it is now. Decided once: whether the finalizer goes at the end follows from it. */
export type Begin =
  /** Nothing runs and nothing is written: the resource is gone, or goes and has no finalizer of ours. */
  | { does: 'end'; outcome: 'gone' | 'refused' }
  | { does: 'fail'; message: string }
  | {
      does: 'run';
      /** The finalizer that the resource gets before it runs. */
      addFinalizer: string | null;
      finalizerRun: boolean;
      script: Script;
      /** After how long (s) it runs again when it was ok; null: never by itself. */
      periodSeconds: number | null;
    };

/** Returns what a reconcile does. `resource` is null where the API server has none. */
export function decideBegin(
  resource: CustomResource | null,
  entry: Pick<WatchEntry, 'finalizer' | 'playbook' | 'role' | 'reconcile_period_seconds'>,
  defaultPeriodSeconds: number,
): Begin {
  if (resource === null) return { does: 'end', outcome: 'gone' };
  const period = periodOf(resource.metadata.annotations ?? {}, entry, defaultPeriodSeconds);
  if ('mistake' in period) return { does: 'fail', message: period.mistake };
  const { finalizer } = entry;
  const carried = finalizer !== null && hasFinalizer(resource, finalizer.name);
  const deleting = isDeleting(resource);
  // Kubernetes takes no new finalizer for what is being deleted.
  if (deleting && !carried) return { does: 'end', outcome: 'refused' };
  const own = deleting && finalizer !== null && (finalizer.playbook !== null || finalizer.role !== null);
  const { playbook, role } = own ? finalizer : entry;
  return {
    does: 'run',
    addFinalizer: finalizer === null || carried ? null : finalizer.name,
    finalizerRun: deleting,
    script: { playbook, role },
    periodSeconds: period.seconds,
  };
}
