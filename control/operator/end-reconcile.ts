import type { After } from '../../domain/operator/after-reconcile.ts';
import { dependentsFrom, loopAfter } from '../../domain/operator/loop.ts';
import { noticeOfEnd } from '../../domain/operator/notice.ts';
import { runIdOfReconcile } from '../../domain/operator/reconcile.ts';
import type { ReconcileOutcome } from '../../domain/operator/resource-words.ts';
import { deleteReconciles, listOldReconciles } from '../../store/operator/old-reconciles.ts';
import { endReconcile, type ReconcileRow, reconcileOwner } from '../../store/operator/reconciles.ts';
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
  const { db, clock, operator, tell, keepReconciles, notices, meters, log } = site;
  const { outcome, messages, after } = ending;
  const now = clock();
  const { cause, runResult } = reconcile;
  const changed = runResult?.ended === 'itself' ? runResult.counters.changed : null;
  const loop = loopAfter(reconcile.loop, { cause, outcome, changed }, now);
  if (await endReconcile(db, reconcile, { ...ending, loop, dependentsFrom: dependentsFrom(loop, now) }, now)) {
    const seconds = (now.getTime() - reconcile.startedAt.getTime()) / 1_000;
    meters.ended(reconcile, { outcome, seconds, requeues: after.requeueAfterSeconds !== null });
    const notice = noticeOfEnd(outcome, messages, reconcile.lastOutcome);
    if (notice !== null) notices.tell(reconcile, notice.reason, notice.message);
    if (loop !== null && loop.reason !== null) {
      notices.tell(reconcile, 'ReconcileLoop', loop.reason);
      const { kind, namespace, name } = reconcile;
      if ((reconcile.loop?.delaySeconds ?? 0) === 0) log.warn({ kind, namespace, name, ...cause }, loop.reason);
    }
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
