import type { Acting } from '../../domain/access/acting.ts';
import { resumed } from '../../domain/batches/rollout.ts';
import type { StopCounts, WantedStop } from '../../domain/lane-stop.ts';
import { announceBatcher, pauseUnlessPaused, resumeIfPausedAt } from '../../store/batches/batcher-state.ts';
import { currentRollouts, lockRollout, markResumed } from '../../store/batches/rollouts.ts';
import type { Db } from '../../store/connection/database.ts';
import { stopRollout } from './stop-rollout.ts';

const GOES_ON: ReadonlySet<string> = new Set(['canary', 'rolling']);

/** Pauses the batcher and stops the rollouts that go on, each in a transaction of its own. Returns how many of each it was. */
export async function pauseBatches(db: Db, { actor }: Acting, { at, reason }: WantedStop): Promise<StopCounts> {
  const batcher = await pauseUnlessPaused(db, actor, at);
  let rollouts = 0;
  for (const { configuration } of await currentRollouts(db)) {
    const isStopped = await db.transaction().execute(async (trx) => {
      const rollout = await lockRollout(trx, configuration);
      if (rollout === null || !GOES_ON.has(rollout.state)) return false;
      await stopRollout(trx, rollout, { reason: `everything is stopped: ${reason}`, actor, now: at });
      return true;
    });
    if (isStopped) rollouts += 1;
  }
  return { batcher: batcher ? 1 : 0, rollouts };
}

/** Lets rollouts and the batcher go on that were stopped at these moments. Returns how many of each it was. */
export async function resumeBatches(
  { db, clock }: { db: Db; clock(): Date },
  { actor }: Acting,
  moments: readonly Date[],
): Promise<StopCounts> {
  const times = new Set(moments.map((moment) => moment.getTime()));
  let rollouts = 0;
  for (const { configuration } of await currentRollouts(db)) {
    const goesOn = await db.transaction().execute(async (trx) => {
      const rollout = await lockRollout(trx, configuration);
      if (rollout === null || rollout.state !== 'stopped' || !times.has(rollout.stopped_at?.getTime() ?? 0))
        return false;
      await markResumed(trx, rollout.id, resumed(rollout), actor, clock());
      return true;
    });
    if (goesOn) rollouts += 1;
  }
  const batcher = await resumeIfPausedAt(db, moments);
  await announceBatcher(db);
  return { batcher: batcher ? 1 : 0, rollouts };
}
