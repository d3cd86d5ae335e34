import { setTimeout as delay } from 'node:timers/promises';
import type { Runner } from '../../domain/runs/runner.ts';
import type { Db } from '../../store/connection/database.ts';
import { isCancelRequested, readRunStart } from '../../store/operator/reconciles.ts';

/** Looks for the wish to end a run so often (ms): there are as many runs here as places. */
const LOOK_MS = 1_000;

interface EndWhenWanted {
  db: Db;
  clock(): Date;
  runner: Pick<Runner, 'end'>;
}

interface WantedEnd {
  reconcileId: string;
  runId: string;
  /** A run that takes longer (ms) is ended; null: none is. */
  limitMs: number | null;
}

/**
 * Ends a run once its reconcile was cancelled, or once it takes longer than its entry allows; the time counts from its start, whichever
 * process has started it. Returns how to stop looking.
 */
export function endWhenWanted(
  { db, clock, runner }: EndWhenWanted,
  { reconcileId, runId, limitMs }: WantedEnd,
): () => Promise<void> {
  const stopped = new AbortController();
  let endsAt: number | null = null;
  const isWanted = async () => {
    if (limitMs !== null && endsAt === null) {
      const startedAt = await readRunStart(db, runId);
      if (startedAt !== null) endsAt = startedAt.getTime() + limitMs;
    }
    if (endsAt !== null && clock().getTime() >= endsAt) return true;
    return isCancelRequested(db, reconcileId);
  };
  const look = async () => {
    while (!stopped.signal.aborted) {
      // While the database is away no cancel can be recorded.
      const wanted = await isWanted().catch(() => false);
      if (wanted) await runner.end(runId).catch(() => undefined);
      const leftMs = wanted || endsAt === null ? LOOK_MS : endsAt - clock().getTime();
      await delay(Math.min(LOOK_MS, Math.max(1, leftMs)), undefined, { signal: stopped.signal, ref: false }).catch(
        () => undefined,
      );
    }
  };
  const looking = look();
  return async () => {
    stopped.abort();
    await looking;
  };
}
