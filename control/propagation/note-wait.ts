import { nextWait, waitOf } from '../../domain/propagation/plan-wait.ts';
import type { Db } from '../../store/connection/database.ts';
import { findKeepers, notifyOfPlan } from '../../store/propagation/plan-notices.ts';
import type { AttemptRow, DrivenPlan } from '../../store/propagation/plan-tables.ts';
import { updatePlan } from '../../store/propagation/plans.ts';

/** Leases or machines that a webhook is told of. */
const MOST_TOLD = 10;

/**
 * Notes since when a plan cannot go on by itself, and tells webhooks of it in time. `open`: its open attempts; `waitsForLease`: whether nodes
 * are left that may not start.
 */
export async function noteWait(
  trx: Db,
  plan: DrivenPlan,
  { open, waitsForLease }: { open: readonly AttemptRow[]; waitsForLease: boolean },
  now: Date,
): Promise<void> {
  const away = open.map(({ away_since }) => away_since !== null);
  const wait = plan.state === 'running' ? waitOf(away, waitsForLease) : null;
  const { isToTell, waits_told, ...next } = nextWait(plan, wait, now);
  if (!isToTell && wait === plan.waits_for) return;
  await updatePlan(trx, plan.id, { ...next, waits_told: waits_told === null ? null : [...waits_told] });
  if (!isToTell) return;
  const machines = [...new Set(open.map(({ machine }) => machine))].slice(0, MOST_TOLD);
  await notifyOfPlan(trx, 'plan.waiting', {
    ...{ id: plan.id, name: plan.name, reason: wait, since: next.waits_since?.toISOString() ?? null },
    leases: wait === 'lease' ? await findKeepers(trx, plan.id, MOST_TOLD) : [],
    machines: wait === 'machine' ? machines : [],
  });
}
