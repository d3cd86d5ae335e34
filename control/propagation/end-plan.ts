import { isClosed } from '../../domain/propagation/plan-states.ts';
import { planEnd } from '../../domain/propagation/result.ts';
import { forgetWaits } from '../../store/propagation/leases.ts';
import { hasSettlements } from '../../store/propagation/plan-items.ts';
import { findEnds } from '../../store/propagation/plan-nodes.ts';
import { freeItems, lockPlan, updatePlan } from '../../store/propagation/plans.ts';
import type { StepDependencies } from './dependencies.ts';

/** Ends a plan all of whose nodes have ended and whose items are settled. Returns whether it is over. */
export async function endPlan({ db, clock }: StepDependencies, id: string): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const plan = await lockPlan(trx, id);
    if (plan === null || isClosed(plan.state)) return true;
    const { pending, in_progress, error_retry } = plan.counts;
    // A command that came meanwhile is to be heard first.
    if (pending + in_progress + error_retry > 0 || !plan.heard || (await hasSettlements(trx, id))) return false;
    const { result, recovered, unsettled } = planEnd(await findEnds(trx, id));
    await updatePlan(trx, id, {
      ...{ state: result, wish: null, ended_at: clock() },
      ...{ recovered: JSON.stringify(recovered), unsettled: JSON.stringify(unsettled) },
    });
    await forgetWaits(trx, id);
    if (result === 'succeeded') await freeItems(trx, id);
    return true;
  });
}
