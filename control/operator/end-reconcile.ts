import type { After } from '../../domain/operator/after-reconcile.ts';
import { noticeOfEnd } from '../../domain/operator/notice.ts';
import { runIdOfReconcile } from '../../domain/operator/reconcile.ts';
import type { ReconcileOutcome } from '../../domain/operator/resource-words.ts';
import {
  deleteReconciles,
  endReconcile,
  listOldReconciles,
  type ReconcileRow,
  reconcileOwner,
} from '../../store/operator/reconciles.ts';
import { markRunEnded } from '../../store/runs/runs.ts';
import { announceStream } from '../../store/runs/streams.ts';
import { forgetRuns } from '../runs/forget-runs.ts';
import type { OperatorSite } from './operator-site.ts';
import { wantedDispatcher } from './wanted-workflows.ts';

export interface Ending {
  outcome: ReconcileOutcome;
  messages: string[];
  after: After;
}

/** Ends a reconcile on record, says that its place is free, and removes the oldest records of its resource with their runs. */
export async function closeReconcile(site: OperatorSite, reconcile: ReconcileRow, ending: Ending): Promise<void> {
  const { db, clock, operator, tell, keepReconciles, notices, meters } = site;
  const { outcome, messages, after } = ending;
  const now = clock();
  if (await endReconcile(db, reconcile, ending, now)) {
    const seconds = (now.getTime() - reconcile.startedAt.getTime()) / 1_000;
    meters.ended(reconcile, { outcome, seconds, requeues: after.requeueAfterSeconds !== null });
    const notice = noticeOfEnd(outcome, messages, reconcile.lastOutcome);
    if (notice !== null) notices.tell(reconcile, notice.reason, notice.message);
  }
  // No process writes how a run ended that was given up.
  const runId = runIdOfReconcile(reconcile.id);
  await markRunEnded(db, runId, 'lost', null, now);
  await announceStream(db, runId);
  await tell([wantedDispatcher(operator)]);
  const old = await listOldReconciles(db, reconcile.resourceId, keepReconciles);
  for (const id of old) await forgetRuns(db, reconcileOwner(id));
  await deleteReconciles(db, old);
}
