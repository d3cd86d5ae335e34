import type { Acting } from '../../domain/access/acting.ts';
import { resumed } from '../../domain/batches/rollout.ts';
import { musterError } from '../../domain/errors.ts';
import { lockRollout, markResumed, type RolloutRow } from '../../store/batches/rollouts.ts';
import type { Db } from '../../store/connection/database.ts';
import { recordReason } from '../access/attribute-writes.ts';
import { stopRollout } from './stop-rollout.ts';

export interface CommandRolloutDependencies {
  db: Db;
  clock(): Date;
}

/**
 * Stops the current rollout of a configuration: nothing more of it is sent, what is sent goes on. One that is stopped already stays as it
 * is. Throws `rollout_not_found`, `rollout_not_running` when it is done.
 */
export async function stopRolloutByHand(
  { db, clock }: CommandRolloutDependencies,
  { actor }: Acting,
  configuration: string,
  reason: string | undefined,
): Promise<void> {
  const stop = async (trx: Db) => {
    const rollout = await currentRollout(trx, configuration);
    if (rollout.state === 'stopped') return;
    if (rollout.state === 'done') throw notRunning(configuration);
    await stopRollout(trx, rollout, { reason: reason ?? 'stopped by hand', actor, now: clock() });
  };
  await recordReason(reason, () => db.transaction().execute(stop));
}

/**
 * Lets the stopped rollout of a configuration go on where it stopped; failures so far are forgiven. Throws `rollout_not_found`,
 * `rollout_not_stopped`.
 */
export async function resumeRollout(
  { db, clock }: CommandRolloutDependencies,
  { actor }: Acting,
  configuration: string,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const rollout = await currentRollout(trx, configuration);
    if (rollout.state !== 'stopped') {
      throw musterError('rollout_not_stopped', `The rollout of ${configuration} is not stopped`);
    }
    await markResumed(trx, rollout.id, resumed(rollout), actor, clock());
  });
}

async function currentRollout(trx: Db, configuration: string): Promise<RolloutRow> {
  const rollout = await lockRollout(trx, configuration);
  if (rollout === null) throw rolloutNotFound(configuration);
  return rollout;
}

export function rolloutNotFound(configuration: string) {
  return musterError('rollout_not_found', `Configuration ${configuration} has no rollout`);
}

function notRunning(configuration: string) {
  return musterError('rollout_not_running', `The rollout of ${configuration} is done`);
}
