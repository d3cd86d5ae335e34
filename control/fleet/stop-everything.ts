import type { Acting } from '../../domain/access/acting.ts';
import { musterError } from '../../domain/errors.ts';
import type { StopAnswer, StopState } from '../../domain/fleet/stop-schema.ts';
import type { LaneStop, StopCounts } from '../../domain/lane-stop.ts';
import type { Db } from '../../store/connection/database.ts';
import { noteGo, noteStop, noteStopComplete, readStop, withStopLock } from '../../store/fleet/stop.ts';
import { recordReason } from '../access/attribute-writes.ts';

export interface StopDependencies {
  db: Db;
  clock(): Date;
  /** What the lanes offer, in their order. */
  stops: readonly LaneStop[];
}

/**
 * Stops everything: first each lane is kept from starting anything, then what goes on is cancelled. The wish is recorded before, and that
 * it is done afterwards: where it breaks off, everything counts as stopped, and the same request again completes it. Repeating it stops
 * what has begun since. Throws `changed_meanwhile` while another stop or go is at work.
 */
export async function stopEverything(deps: StopDependencies, by: Acting, reason: string): Promise<StopAnswer> {
  const { db, stops } = deps;
  return alone(db, reason, async () => {
    const stop = { at: deps.clock(), reason };
    await noteStop(db, { ...stop, actor: by.actor });
    const counts: StopCounts = {};
    for (const lane of stops) add(counts, await lane.pause?.(by, stop));
    for (const lane of stops) add(counts, await lane.cancel?.(by, stop));
    await noteStopComplete(db);
    return { ...(await stopState(db)), counts };
  });
}

/**
 * Lets everything go on that *stop everything* has paused. What somebody paused by hand stays paused, and cancelled sessions stay cancelled.
 * Repeating it is harmless. Throws `changed_meanwhile` while another stop or go is at work.
 */
export async function goOn(deps: StopDependencies, by: Acting, reason: string | undefined): Promise<StopAnswer> {
  const { db, stops } = deps;
  return alone(db, reason, async () => {
    const { moments } = await readStop(db);
    const counts: StopCounts = {};
    // Where this breaks off the moments are still there for the next go.
    if (moments.length > 0) for (const lane of stops.toReversed()) add(counts, await lane.go?.(by, moments));
    await noteGo(db);
    return { ...(await stopState(db)), counts };
  });
}

/** Returns whether everything is stopped, since when and why. */
export async function stopState(db: Db): Promise<StopState> {
  const { stoppedAt, stoppedBy, reason, complete } = await readStop(db);
  return { stopped: stoppedAt !== null, since: stoppedAt?.toISOString() ?? null, actor: stoppedBy, reason, complete };
}

async function alone(db: Db, reason: string | undefined, work: () => Promise<StopAnswer>): Promise<StopAnswer> {
  const answer = await recordReason(reason, () => withStopLock(db, work));
  if (answer !== null) return answer;
  throw musterError('changed_meanwhile', 'Another request is stopping everything, or lets it go on; try again.');
}

function add(counts: StopCounts, more: StopCounts = {}): void {
  for (const [kind, count] of Object.entries(more)) counts[kind] = (counts[kind] ?? 0) + count;
}
