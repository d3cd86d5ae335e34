import { operatorQueueOf } from '../../domain/engine/task-queues.ts';
import { admit } from '../../domain/operator/admission.ts';
import { SEEN_MS } from '../../domain/operator/resource-words.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import {
  dueResources,
  freePlaces,
  holdOperator,
  listUntold,
  nextDue,
  noteTold,
  type OpenReconcile,
  openReconciles,
} from '../../store/operator/due.ts';
import { databaseTime } from '../../store/operator/operators.ts';
import { startOnce } from '../temporal/start-once.ts';
import type { OperatorSite } from './operator-site.ts';
import { reconcileMemo, wantedReconcile } from './wanted-workflows.ts';

/** A reconcile of which Temporal was told so long ago (ms) is told again: it may have forgotten it. */
const TOLD_AGAIN_MS = 30_000;
/** Looked at again by itself (ms): a word may be lost with the process that was to say it. */
const LOOK_MS = 30_000;
/** The workflow of the reconcile before ends in a moment (ms). */
const SOON_MS = 200;

/**
 * Begins reconciles as far as places are free: first on record, then in Temporal. What Temporal did not take, a later pass tells again. Returns
 * after how long (ms) to look again.
 */
export async function dispatchReconciles(site: OperatorSite): Promise<number> {
  const { db, clock, operator } = site;
  const now = clock();
  await db.transaction().execute(async (trx) => {
    if (!(await holdOperator(trx, operator))) return;
    const places = await freePlaces(trx, operator, new Date((await databaseTime(trx)).getTime() - SEEN_MS));
    await openReconciles(trx, admit(await dueResources(trx, operator, places, now), places), now);
  });
  const untold = await listUntold(db, operator, new Date(now.getTime() - TOLD_AGAIN_MS));
  const taken = await Promise.all(untold.map((reconcile) => startReconcile(site, reconcile)));
  const due = await nextDue(db, operator, now);
  const dueMs = due === null ? LOOK_MS : Math.max(0, due.getTime() - clock().getTime());
  return Math.min(dueMs, taken.includes(false) ? SOON_MS : LOOK_MS);
}

/** Returns the reconcile whose workflow is open under an id. */
async function reconcileOf(client: OperatorSite['client'], workflowId: string): Promise<unknown> {
  const { status, memo } = await client.workflow.getHandle(workflowId).describe();
  return status.name === 'RUNNING' ? memo?.reconcile : undefined;
}

/** Returns whether the workflow of the reconcile is open; false where that of the reconcile before it still is. */
async function startReconcile(
  { db, clock, operator, client, log }: OperatorSite,
  reconcile: OpenReconcile,
): Promise<boolean> {
  const { workflowType, ...wanted } = wantedReconcile(operator, reconcile);
  try {
    const isNew = await startOnce(client, workflowType, {
      ...wanted,
      memo: reconcileMemo(reconcile),
      taskQueue: operatorQueueOf(operator),
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
    // It may have been begun by a pass that was broken off before it could note that.
    const isOpen = isNew || reconcile.isTold || (await reconcileOf(client, wanted.workflowId)) === reconcile.id;
    if (isOpen) await noteTold(db, reconcile.id, clock());
    return isOpen;
  } catch (error) {
    log.warn(
      { reconcile: reconcile.id, err: messageOf(error) },
      'Temporal was not told of a reconcile; it is told again',
    );
    return false;
  }
}
