import { gateOf } from '../../domain/batches/rollout.ts';
import type { Options } from '../../domain/configurations/schema.ts';
import { countOthers } from '../../store/batches/canaries.ts';
import { addMembers, countInSessions, tallyMembers } from '../../store/batches/rollout-members.ts';
import { lockRollout, rolloutPolicies } from '../../store/batches/rollouts.ts';
import type { Db } from '../../store/connection/database.ts';
import { countsOf } from './rollout-gates.ts';

/** A batch that is about to be sent; `desired` is the digest of what its session will configure. */
export interface JoiningBatch {
  id: string;
  configuration: string;
  desired: string;
  components: readonly string[];
}

/**
 * Whether the rollout of the batch's configuration lets it go, in the transaction that sends it: it may have been stopped, or the
 * configuration changed, since the plan was made. Its components are then counted as being in a session. The caller holds the
 * configuration as it is.
 */
export async function joinRollout(trx: Db, batch: JoiningBatch, options: Options): Promise<boolean> {
  const { configuration, components } = batch;
  const policy = (await rolloutPolicies(trx, configuration)).get(configuration);
  if (policy === undefined) return true;
  const rollout = await lockRollout(trx, configuration);
  if (rollout === null || rollout.version !== batch.desired) return false;
  const tally = (await tallyMembers(trx, [rollout.id])).get(rollout.id);
  const inSessions = (await countInSessions(trx, [configuration])).get(configuration) ?? 0;
  const counts = await countsOf(trx, rollout, policy, { tally, inSessions }, options);
  const gate = gateOf(rollout, policy, counts, options.batch_size);
  if (components.length > gate.room) return false;
  // Collected as canaries, and not able to be any more: the next pass collects others.
  if (gate.canary !== null && (await countOthers(trx, components, gate.canary)) > 0) return false;
  await addMembers(trx, { rollout: rollout.id, batch: batch.id, components, canary: gate.canary !== null });
  return true;
}
