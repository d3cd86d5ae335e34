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

/** Who cancels the run of a resource that is deleted, where its entry says so. */
export const BY_DELETION = 'the deletion of the resource';

/** Exit statuses from here on are those of a program that was ended, as a shell gives them. */
const ENDED_FROM = 128;

interface EndedRun {
  startedAt: Date | null;
  /** As its launcher says: it may be found out much later. */
  endedAt: Date | null;
  exitCode: number | null;
}

/**
 * Returns whether a run was ended because it took longer than its entry allows. It is told by its record alone, since the process that has
 * ended it may be gone. A run that came to an end of its own counts as what it came to.
 */
export function wasLate({ startedAt, endedAt, exitCode }: EndedRun, limitMs: number | null): boolean {
  if (limitMs === null || startedAt === null || endedAt === null || (exitCode ?? 0) < ENDED_FROM) return false;
  return endedAt.getTime() - startedAt.getTime() >= limitMs;
}

/** The message of a run that took longer than its entry allows. */
export const tookLonger = (duration: string): string => `run took longer than ${duration}`;

/** Returns the id of the run of a reconcile. */
export const runIdOfReconcile = (id: string): string => runIdOfOwner({ kind: RECONCILE_KIND, id }, 1);
