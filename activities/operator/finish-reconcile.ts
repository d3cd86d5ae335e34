import { closeReconcile } from '../../control/operator/end-reconcile.ts';
import { entryOf, type HashedEntry, type OperatorSite } from '../../control/operator/operator-site.ts';
import { isMusterError, type MusterError } from '../../domain/errors.ts';
import { afterReconcile } from '../../domain/operator/after-reconcile.ts';
import { type Counts, countsBefore, interruptedAs } from '../../domain/operator/back-off.ts';
import { cancelledBegin } from '../../domain/operator/decide-begin.ts';
import { cancelledText, decideEnd, type End, type Ended, timer } from '../../domain/operator/decide-end.ts';
import type { ReconcileBegin, RunResult } from '../../domain/operator/reconcile.ts';
import type { ReconcileOutcome } from '../../domain/operator/resource-words.ts';
import { markError, markFailed, markSucceeded, type Status, UNABLE } from '../../domain/operator/status.ts';
import { DEFAULT_BACKOFF } from '../../domain/operator/watch-entry.ts';
import { findReconcile, type ReconcileRow } from '../../store/operator/reconciles.ts';
import { ChangedMeanwhile } from './prepare-reconcile.ts';
import { writeStatus } from './write-status.ts';

/** What is to be said of a reconcile, before it is on record. */
interface Conclusion extends Pick<End, 'next' | 'messages'> {
  outcome: ReconcileOutcome;
}

const LOST = 'its run was lost four times in a row';

/** The last step of a reconcile: what its first steps have stored becomes status, record and next time. */
export async function finishReconcile(site: OperatorSite, reconcileId: string): Promise<void> {
  const reconcile = await findReconcile(site.db, reconcileId);
  if (reconcile === null || reconcile.endedAt !== null) return;
  const hashed = entryOf(site, reconcile);
  const { outcome, messages, next } = await conclude(site, reconcile, hashed).catch((error: unknown): Conclusion => {
    // The cluster will say the same for ever: the record says it, and it is tried again after the back-off.
    if (!isRefused(error)) throw error;
    return { outcome: 'failed', messages: [error.detail], next: { when: 'back_off' } };
  });
  await closeReconcile(site, reconcile, {
    outcome,
    messages,
    after: afterReconcile({
      outcome,
      next,
      before: { failures: reconcile.failures, interruptions: reconcile.interruptions },
      generationOfLastRun: reconcile.lastGeneration,
      generation: reconcile.generation,
      backoff: hashed?.entry.muster.backoff ?? DEFAULT_BACKOFF,
      random: site.random(),
    }),
  });
}

async function conclude(site: OperatorSite, reconcile: ReconcileRow, hashed: HashedEntry | null): Promise<Conclusion> {
  const { begin, runResult } = reconcile;
  const byEvent = { when: 'event' } as const;
  if (hashed === null) return { outcome: 'gone', messages: [], next: byEvent };
  if (begin === null) return givenUp(site, reconcile, hashed);
  if (begin.does === 'end') {
    const next = begin.outcome === 'cancelled' ? timer(begin, null) : byEvent;
    return { outcome: begin.outcome, messages: [], next };
  }
  if (begin.does === 'fail') {
    if (begin.status) await sayError(site, reconcile, hashed, begin.message);
    return { outcome: 'failed', messages: [begin.message], next: { when: 'back_off' } };
  }
  if (runResult?.ended === 'unable') {
    await sayError(site, reconcile, hashed, UNABLE);
    return { outcome: 'failed', messages: [UNABLE], next: { when: 'back_off' } };
  }
  const isCancelled = reconcile.cancelledBy !== null;
  if (!isCancelled && (runResult === null || runResult.ended === 'interrupted')) {
    return lost(site, reconcile, hashed);
  }
  return settle(site, reconcile, hashed, begin, runResult?.ended === 'itself' ? runResult : null);
}

async function lost(site: OperatorSite, reconcile: ReconcileRow, hashed: HashedEntry): Promise<Conclusion> {
  if (interruptedAs(countsOf(reconcile)) === 'interrupted')
    return { outcome: 'interrupted', messages: [], next: { when: 'now' } };
  await sayError(site, reconcile, hashed, LOST);
  return { outcome: 'failed', messages: [LOST], next: { when: 'back_off' } };
}

/** Its machine went before it decided anything: it begins anew elsewhere, unless somebody has cancelled it. */
async function givenUp(site: OperatorSite, reconcile: ReconcileRow, hashed: HashedEntry): Promise<Conclusion> {
  if (reconcile.cancelledBy === null) return lost(site, reconcile, hashed);
  const read = await site.cluster.read(reconcile);
  const resource = read?.metadata.uid === reconcile.uid ? read : null;
  const begin = cancelledBegin(resource, hashed.entry, site.defaultPeriodSeconds);
  if (begin.outcome === 'gone') return { outcome: 'gone', messages: [], next: { when: 'event' } };
  const message = cancelledText(reconcile.cancelledBy);
  await sayError(site, reconcile, hashed, message);
  return { outcome: 'cancelled', messages: [message], next: timer(begin, null) };
}

/** How often it failed, and its run was lost, since the resource was changed. */
function countsOf({ failures, interruptions, lastGeneration, generation }: ReconcileRow): Counts {
  const counts = { failures, interruptions };
  return generation === null ? counts : countsBefore(counts, lastGeneration, generation);
}

/** Writes finalizers and status as the end of the run wants them. `result`: null for a run that was cancelled and is gone. */
async function settle(
  site: OperatorSite,
  reconcile: ReconcileRow,
  { entry }: HashedEntry,
  { finalizerRun, periodSeconds }: Extract<ReconcileBegin, { does: 'run' }>,
  result: Extract<RunResult, { ended: 'itself' }> | null,
): Promise<Conclusion> {
  const resource = await site.cluster.read(reconcile);
  // What was done before the wish reached it is done.
  const ended: Ended =
    result === null || (result.outcome === 'failed' && reconcile.cancelledBy !== null)
      ? { outcome: 'cancelled', by: reconcile.cancelledBy ?? 'somebody' }
      : { outcome: result.outcome, messages: result.messages, requeue: result.requeue };
  const end = decideEnd(resource, { uid: reconcile.uid, finalizerRun, periodSeconds }, entry, ended);
  if (resource !== null && end.finalizers !== null) {
    const written = await site.cluster.writeFinalizers(reconcile, resource, end.finalizers);
    if (written.answer === 'conflict') throw new ChangedMeanwhile('its finalizers');
  }
  const observed =
    entry.muster.observed_generation && reconcile.generation !== null
      ? { observedGeneration: reconcile.generation }
      : {};
  const writing = { now: site.clock(), ...observed };
  if (end.status !== null) {
    const refusal = await tellStatus(site, reconcile, (status): Status => {
      // A playbook that did not come to its end has no result.
      if (result === null || !result.hasStats) return markError(status, end.messages.join('\n'), writing);
      const { counters, completion } = result;
      const ansibleResult = { ...counters, ...(completion === null ? {} : { completion }) };
      if (end.status === 'succeeded') return markSucceeded(status, ansibleResult, writing);
      return markFailed(status, end.messages, ansibleResult, writing);
    });
    // Else the status said for ever that it runs.
    if (refusal !== null && end.outcome === 'ok')
      return { outcome: 'failed', messages: [refusal], next: { when: 'back_off' } };
  }
  return end;
}

async function sayError(
  site: OperatorSite,
  reconcile: ReconcileRow,
  { entry }: HashedEntry,
  message: string,
): Promise<void> {
  const { kind } = reconcile;
  site.log.warn({ kind, namespace: reconcile.namespace, name: reconcile.name, reconcile: reconcile.id }, message);
  if (entry.manage_status)
    await tellStatus(site, reconcile, (status) => markError(status, message, { now: site.clock() }));
}

/** Writes a status. Returns why the cluster refuses it, which is in the log as well; null: it does not. */
async function tellStatus(
  site: OperatorSite,
  reconcile: ReconcileRow,
  change: (status: unknown) => Status,
): Promise<string | null> {
  try {
    await writeStatus(site, reconcile, change);
    return null;
  } catch (error) {
    if (!isRefused(error)) throw error;
    site.log.warn(
      { reconcile: reconcile.id, err: error.detail },
      'the status of a resource was refused by the cluster',
    );
    return error.detail;
  }
}

const isRefused = (error: unknown): error is MusterError => isMusterError(error) && error.code === 'cluster_refused';
