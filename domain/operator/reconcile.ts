/** What is on record of a reconcile between its three steps. */
import { runIdOfOwner } from '../runs/owner.ts';
import type { Outcome } from './outcome.ts';
import { RECONCILE_KIND } from './resource-words.ts';
import type { Script } from './watch-entry.ts';

/** What the first step decided; it is decided once. */
export type ReconcileBegin =
  | { does: 'end'; outcome: 'gone' | 'refused' }
  /** Somebody cancelled it before anything ran. */
  | { does: 'end'; outcome: 'cancelled'; periodSeconds: number | null }
  /** Its finalizer is gone, without a run: somebody drains the operator. */
  | { does: 'end'; outcome: 'ok'; drained: true }
  /** Nothing runs; the status says why. `status`: false where it cannot be written. */
  | { does: 'fail'; message: string; status: boolean }
  | ({
      does: 'run';
      finalizerRun: boolean;
      periodSeconds: number | null;
      drained?: true;
      logsVerbosely?: true;
    } & RunCommand);

/** What of the command of a run follows from the resource. */
export interface RunCommand {
  script: Script;
  verbosity: number;
  maxArtifacts: number;
}

/** How a run ended. `interrupted`: nobody knows, since it was lost. `hasStats`: whether the playbook came to its end. */
export type RunResult =
  | ({ ended: 'itself'; hasStats: boolean } & Outcome)
  | { ended: 'unable' }
  | { ended: 'interrupted' };

/** The message of a run that took longer than its entry allows. */
export const tookLonger = (duration: string): string => `run took longer than ${duration}`;

/** Returns the id of the run of a reconcile. */
export const runIdOfReconcile = (id: string): string => runIdOfOwner({ kind: RECONCILE_KIND, id }, 1);
