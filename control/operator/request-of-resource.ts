/** What people ask of a resource: on record with its audit in one transaction, and announced to the operator's own process. */
import { musterError } from '../../domain/errors.ts';
import { urgencyOf } from '../../domain/operator/cause.ts';
import { BY_ANNOTATION } from '../../domain/operator/own-annotations.ts';
import type { OperatorResourceView } from '../../domain/operator/view-schema.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import { insertAuditRow } from '../../store/audit/audit.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  announceOperator,
  cancelWaiting,
  type HeldResource,
  holdResource,
  requestCancel,
  writeManualCause,
  writePause,
  writeResume,
} from '../../store/operator/requests.ts';
import { getResource, type ReadDependencies } from './read-operators.ts';

export interface RequestDependencies extends ReadDependencies {
  /** Who asks. */
  actor: string | null;
}

export type Verb = 'reconcile' | 'cancel' | 'pause' | 'resume';

/** How somebody is called whom nobody knows. */
const SOMEBODY = 'somebody';

/** Has a resource reconcile now. Throws `operator_resource_not_found`, `operator_paused`. */
export function reconcileNow(deps: RequestDependencies, id: string): Promise<OperatorResourceView> {
  return request(deps, id, 'reconcile', async (trx, resource, now) => {
    if (resource.isPaused) {
      const by = resource.pausedBy === null ? '' : ` by ${resource.pausedBy}`;
      const mend = resource.pausedBy === BY_ANNOTATION ? 'remove that first' : 'resume it first';
      throw musterError('operator_paused', `${nameOf(resource)} is paused${by}: ${mend}`);
    }
    await writeManualCause(trx, id, { by: deps.actor, urgency: urgencyOf('manual') }, now);
  });
}

/**
 * Cancels what a resource does now: the reconcile that is open, or the one that it waits for.
 * Throws `operator_resource_not_found`, `operator_reconcile_not_found`.
 */
export function cancelReconcile(deps: RequestDependencies, id: string): Promise<OperatorResourceView> {
  const by = deps.actor ?? SOMEBODY;
  return request(deps, id, 'cancel', async (trx, resource, now) => {
    const { reconcileId, waits } = resource;
    if (reconcileId !== null && (await requestCancel(trx, reconcileId, by, now))) return;
    if (reconcileId === null && waits) return cancelWaiting(trx, id, by, now);
    throw musterError('operator_reconcile_not_found', `${nameOf(resource)} has no reconcile that runs or waits`);
  });
}

/** Pauses a resource: a run that goes on ends, and no other begins. Throws `operator_resource_not_found`, `bad_request`. */
export function pauseResource(
  deps: RequestDependencies,
  id: string,
  until: Date | null,
): Promise<OperatorResourceView> {
  if (until !== null && until <= deps.clock()) {
    throw musterError('bad_request', 'The time at which the pause ends has gone by: give a later one', 'until');
  }
  return request(deps, id, 'pause', (trx, _, now) => writePause(trx, id, { by: deps.actor, until }, now));
}

/** Ends the pause of a resource; one that is not paused stays as it is. Throws `operator_resource_not_found`. */
export function resumeResource(deps: RequestDependencies, id: string): Promise<OperatorResourceView> {
  return request(deps, id, 'resume', (trx, _, now) => writeResume(trx, id, now));
}

async function request(
  deps: RequestDependencies,
  id: string,
  action: Verb,
  write: (trx: Db, resource: HeldResource, now: Date) => Promise<void>,
): Promise<OperatorResourceView> {
  const { db, actor } = deps;
  const now = deps.clock();
  await db.transaction().execute(async (trx) => {
    const resource = isUuid(id) ? await holdResource(trx, id, now) : null;
    if (resource === null || resource.isGone) {
      throw musterError('operator_resource_not_found', `There is no resource with the id ${id}`);
    }
    await write(trx, resource, now);
    await insertAuditRow(trx, { actor, action, kind: 'operator-resource', name: nameOf(resource) });
    await announceOperator(trx, resource.operator);
  });
  return getResource(deps, id);
}

/** `demo.io/v1 Widget ns/name` */
function nameOf({ group, version, kind, namespace, name }: HeldResource): string {
  return `${group === '' ? '' : `${group}/`}${version} ${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`;
}
