import { setTimeout as delay } from 'node:timers/promises';

/** What a lane tidies when the sweep comes by, and what it tells Temporal again; repeating it is harmless. */
export interface LaneSweep {
  lane: string;
  /** `signal` is aborted when the time of the lane is over, or the sweep ends. */
  sweep(signal: AbortSignal): Promise<void>;
}

export interface SweepLanesDependencies {
  /** In the order in which they sweep. */
  laneSweeps: readonly LaneSweep[];
  log: { warn(fields: object, message: string): void };
  /** Time (ms) for each lane; default 75,000. */
  laneMs?: number;
}

/** All lanes together have less time than the activity. */
const LANE_MS = 75_000;

/**
 * Makes the sweep of all lanes, one after the other. A lane that fails, or that takes too long, keeps no other one from its sweep: it is
 * in the log, and comes again with the next sweep, one that still goes on when it is over. The function throws when it is aborted.
 */
export function createLaneSweeps({ laneSweeps, log, laneMs = LANE_MS }: SweepLanesDependencies) {
  const goingOn = new Set<string>();
  const sweepOne = async ({ lane, sweep }: LaneSweep, ended: AbortSignal) => {
    const signal = AbortSignal.any([ended, AbortSignal.timeout(laneMs)]);
    goingOn.add(lane);
    const sweeping = sweep(signal)
      .catch((err: unknown) => log.warn({ lane, err }, 'the sweep of a lane failed; it comes again'))
      .finally(() => goingOn.delete(lane));
    const done = new AbortController();
    const late = delay(laneMs, undefined, { ref: false, signal: AbortSignal.any([ended, done.signal]) }).then(
      () => log.warn({ lane }, 'the sweep of a lane takes long; the other lanes do not wait for it'),
      () => undefined,
    );
    await Promise.race([sweeping, late]).finally(() => done.abort());
  };
  return async (ended: AbortSignal): Promise<void> => {
    for (const lane of laneSweeps) {
      ended.throwIfAborted();
      if (!goingOn.has(lane.lane)) await sweepOne(lane, ended);
    }
  };
}
