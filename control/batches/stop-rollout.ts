import { markStopped, type RolloutRow } from '../../store/batches/rollouts.ts';
import type { Db } from '../../store/connection/database.ts';

/**
 * Stops a rollout that the caller has locked: by its policy, or by hand. Every stop comes through here, in the transaction that
 * decides it.
 */
export async function stopRollout(
  trx: Db,
  rollout: RolloutRow,
  stop: { reason: string; actor: string | null; now: Date },
): Promise<void> {
  await markStopped(trx, rollout.id, stop.reason, stop.actor, stop.now);
}
