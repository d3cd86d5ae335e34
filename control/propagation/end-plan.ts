import { isClosed } from '../../domain/propagation/plan-states.ts';
import { planEnd } from '../../domain/propagation/result.ts';
import { forgetWaits } from '../../store/propagation/leases.ts';
import { hasSettlements } from '../../store/propagation/plan-items.ts';
import { findEnds } from '../../store/propagation/plan-nodes.ts';
import { countFailed, findFailed, notifyOfPlan } from '../../store/propagation/plan-notices.ts';
import { freeItems, lockPlan, updatePlan } from '../../store/propagation/plans.ts';
import type { StepDependencies } from './dependencies.ts';

/** Failed nodes of which webhooks are told. */
const MOST_TOLD = 100;

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
      ...{ state: result, wish: null, ended_at: clock(), waits_for: null, waits_since: null },
      ...{ recovered: JSON.stringify(recovered), unsettled: JSON.stringify(unsettled) },
    });
    await forgetWaits(trx, id);
    if (result === 'succeeded') await freeItems(trx, id);
    const { name, counts, follow_up } = plan;
    const failed = await findFailed(trx, id, { recovered, limit: MOST_TOLD });
    const told = { id, name, result, summary: counts, failed, recovered, unsettled, follow_up };
    await notifyOfPlan(trx, 'plan.ended', told);
    await countFailed(trx, id);
    return true;
  });
}
