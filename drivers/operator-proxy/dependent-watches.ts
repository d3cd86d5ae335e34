/** Kinds of dependents, told to the watcher once for each entry. */
import { gvkText } from '../../domain/operator/names.ts';
import { watchesDependent } from '../../domain/operator/owner-mark.ts';
import type { AdmittedRun, DependentKind, ProxyNotes } from '../../domain/operator/proxy-ports.ts';

/** A request waits so long for its kind to be noted, ms: the watch is to begin before the object changes, and never to stop a playbook. */
const NOTING_MS = 2_000;

export interface DependentWatches {
  /** Has a kind watched where the entry of the run says so. `namespace`: that of the request. Never fails. */
  note(run: AdmittedRun, kind: DependentKind, namespace: string): Promise<void>;
}

/** `watchedNamespaces`: those of the operator; none for all. */
export function openDependentWatches(
  notes: Pick<ProxyNotes, 'dependent'>,
  watchedNamespaces: readonly string[],
): DependentWatches {
  const noted = new Set<string>();
  return {
    async note(run, kind, namespace) {
      const isWatched = watchedNamespaces.length === 0 || watchedNamespaces.includes(namespace);
      if (!isWatched || !watchesDependent(run.entry, kind, kind.mark)) return;
      const key = `${gvkText(run.entry)} ${gvkText(kind)} ${kind.mark}`;
      if (noted.has(key)) return;
      noted.add(key);
      const noting = notes.dependent(run, kind).catch(() => {
        noted.delete(key);
      });
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, NOTING_MS);
      });
      await Promise.race([noting, late]).finally(() => clearTimeout(timer));
    },
  };
}
