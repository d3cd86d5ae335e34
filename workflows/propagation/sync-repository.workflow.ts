/**
 * Reads a repository of definitions out of git, as often as somebody asks for it. What is asked for, and how it ended, is in the record.
 *
 *  1. ask the record which sync is wanted; none: end
 *  2. resolve the branch, clone, take in all definitions of the commit or none, then again from 1
 *  3. whatever broke it off is recorded as the end of the sync; a cancellation too, and it ends the workflow
 *
 * History: some 17 events a round; it continues as new at the server's hint.
 */
import {
  ActivityFailure,
  CancellationScope,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { RepositoryActivities } from '../../activities/propagation/contract.ts';
import { syncWanted } from './messages.ts';
import { syncEnd, TRIES } from './sync-end.ts';

/** A record that cannot be read or written now is when the database is back. */
const { beginSync, failSync } = proxyActivities<RepositoryActivities>({
  startToCloseTimeout: '30s',
  retry: { initialInterval: '500ms', maximumInterval: '30s' },
});

const { syncRepository } = proxyActivities<RepositoryActivities>({
  startToCloseTimeout: '1h',
  heartbeatTimeout: '15s',
  // What it does is known only when it has stopped.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  // A remote that is away for a moment is asked again; the sync fails soon enough for a user who waits.
  retry: { initialInterval: '2s', maximumInterval: '30s', maximumAttempts: TRIES },
});

export interface SyncRepositoryInput {
  repository: string;
  /** Events after which it continues as new; default: when the server suggests it. */
  maxEvents?: number;
}

export async function syncRepositoryWorkflow({ repository, maxEvents }: SyncRepositoryInput): Promise<void> {
  let isTold = false;
  setHandler(
    syncWanted,
    () => {
      isTold = true;
    },
    { description: 'A sync of the repository was asked for: its record is looked at again.' },
  );
  for (;;) {
    isTold = false;
    const { sync } = await beginSync({ repository });
    if (sync !== null) await syncOnce(repository, sync);
    else if (!isTold) return;
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    if (continueAsNewSuggested || (maxEvents !== undefined && historyLength > maxEvents)) {
      await continueAsNew<typeof syncRepositoryWorkflow>({
        repository,
        ...(maxEvents === undefined ? {} : { maxEvents }),
      });
    }
  }
}

async function syncOnce(repository: string, sync: number): Promise<void> {
  setCurrentDetails(`reads the repository, sync ${sync}`);
  try {
    const { commit } = await syncRepository({ repository, sync });
    setCurrentDetails(commit === null ? `sync ${sync} was over already` : `sync ${sync} has taken in commit ${commit}`);
  } catch (error) {
    if (isCancellation(error)) {
      const reason = 'The sync was cancelled in Temporal';
      await CancellationScope.nonCancellable(() => failSync({ repository, sync, code: 'cancelled', reason }));
      throw error;
    }
    if (!(error instanceof ActivityFailure)) throw error;
    const end = syncEnd(error);
    setCurrentDetails(`sync ${sync} has failed: ${end.code}`);
    await failSync({ repository, sync, ...end });
  }
}
