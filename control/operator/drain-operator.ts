import { musterError } from '../../domain/errors.ts';
import { urgencyOf } from '../../domain/operator/cause.ts';
import type { Drain } from '../../domain/operator/request-schema.ts';
import { someOf } from '../../domain/some-of.ts';
import { insertAuditRow } from '../../store/audit/audit.ts';
import { listOperators } from '../../store/operator/reads.ts';
import { announceOperator, writeDrain } from '../../store/operator/requests.ts';
import type { RequestDependencies } from './request-of-resource.ts';

/**
 * Takes our finalizers from all resources of an operator, so that they can be deleted without it; each is paused behind it, else its next
 * reconcile would put the finalizer back. Returns the operator and the number of resources.
 * Throws `operator_not_known`, and `bad_request` where there are several and none is named.
 */
export async function drainOperator(
  { db, clock, actor }: RequestDependencies,
  { operator, run }: Drain,
): Promise<{ operator: string; resources: number }> {
  const names = (await listOperators(db, clock())).map(({ name }) => name);
  if (operator !== undefined && !names.includes(operator)) {
    throw musterError('operator_not_known', `There is no operator ${operator}`, 'operator');
  }
  const [only, ...others] = names;
  if (operator === undefined && others.length > 0) {
    throw musterError('bad_request', `There are several operators, name one of them: ${someOf(names)}`, 'operator');
  }
  const name = operator ?? only;
  if (name === undefined) throw musterError('operator_not_known', 'There is no operator');
  return db.transaction().execute(async (trx) => {
    const drain = { mode: run ? 'run' : 'now', by: actor, urgency: urgencyOf('manual') } as const;
    const resources = await writeDrain(trx, name, drain, clock());
    await insertAuditRow(trx, { actor, action: 'drain', kind: 'operator', name });
    await announceOperator(trx, name);
    return { operator: name, resources };
  });
}
