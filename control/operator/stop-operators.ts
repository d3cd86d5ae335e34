/** How operators take part in *stop everything*: no operator begins a reconcile, and open reconciles are cancelled; *go* takes that back. */
import type { StopCounts, WantedStop } from '../../domain/lane-stop.ts';
import { urgencyOf } from '../../domain/operator/cause.ts';
import { insertAuditRow } from '../../store/audit/audit.ts';
import type { Db } from '../../store/connection/database.ts';
import { announceOperator } from '../../store/operator/requests.ts';
import { cancelAllOpen, releaseOperators, stopOperators, wakeCancelled } from '../../store/operator/stops.ts';

interface By {
  actor: string | null;
}

interface StopDependencies {
  db: Db;
  clock(): Date;
}

/** Who cancels, in the records, where the caller of the stop is not known. */
const BY_STOP = 'stop --all';

/** Keeps all operators from beginning anything. Resources that change meanwhile wait. Returns how many it was. */
export async function pauseOperators(db: Db, { actor }: By, { at }: WantedStop): Promise<StopCounts> {
  return db.transaction().execute(async (trx) => {
    const names = await stopOperators(trx, at);
    for (const name of names) await insertAuditRow(trx, { actor, action: 'pause', kind: 'operator', name });
    return { operators: names.length };
  });
}

/** Cancels all reconciles that are open; their machines end the runs. Returns how many it was. */
export async function cancelReconciles(db: Db, { actor }: By, { at }: WantedStop): Promise<StopCounts> {
  return db.transaction().execute(async (trx) => {
    const operators = await cancelAllOpen(trx, actor ?? BY_STOP, at);
    for (const name of new Set(operators)) await announceOperator(trx, name);
    return { reconciles: operators.length };
  });
}

/**
 * Lets the operators go on that were stopped at these moments. What their resources want is still to be done, so those whose reconciles were
 * cancelled run again. Returns how many operators and resources it was.
 */
export async function resumeOperators(
  { db, clock }: StopDependencies,
  { actor }: By,
  moments: readonly Date[],
): Promise<StopCounts> {
  return db.transaction().execute(async (trx) => {
    const names = await releaseOperators(trx, moments);
    const woken = await wakeCancelled(trx, moments, { by: actor, urgency: urgencyOf('manual') }, clock());
    for (const name of names) await insertAuditRow(trx, { actor, action: 'resume', kind: 'operator', name });
    for (const name of new Set([...names, ...woken])) await announceOperator(trx, name);
    return { operators: names.length, reconciles: woken.length };
  });
}
