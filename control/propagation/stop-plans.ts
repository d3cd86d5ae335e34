/** How plans take part in *stop everything*: no plan begins an action, and actions at work end by themselves; *go* takes that back. */
import type { StopCounts, WantedStop } from '../../domain/lane-stop.ts';
import { pauseRunning, unpausePausedAt } from '../../store/propagation/plans.ts';
import { pokedPlan, type WakeDependencies } from './wake-plans.ts';

interface By {
  actor: string | null;
}

/** Pauses all plans that are running. Returns how many it was. */
export async function pausePlans(
  { db, tell }: Pick<WakeDependencies, 'db' | 'tell'>,
  { actor }: By,
  { at }: Pick<WantedStop, 'at'>,
): Promise<StopCounts> {
  const plans = await db.transaction().execute((trx) => pauseRunning(trx, at, actor));
  await tell(plans.map(pokedPlan));
  return { plans: plans.length };
}

/** Lets the plans go on that were paused at these moments and have had no other command since. Returns how many it was. */
export async function unpausePlans(
  { db, tell, clock }: WakeDependencies,
  { actor }: By,
  moments: readonly Date[],
): Promise<StopCounts> {
  const plans = await db.transaction().execute((trx) => unpausePausedAt(trx, moments, clock(), actor));
  await tell(plans.map(pokedPlan));
  return { plans: plans.length };
}
