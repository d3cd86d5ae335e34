/** A worker that has asked the engine for work, and when it did so last. */
export interface Poller {
  identity: string;
  askedAt: Date;
}

/** How the queue of the workers is, as the engine says it. */
export interface EngineQueue {
  name: string;
  /** Tasks that wait, about. */
  depth: number;
  /** How long the first of them waits. */
  oldestSeconds: number;
  pollers: Poller[];
}

export interface WorkersAtWork {
  ok: boolean;
  reason: string | null;
  count: number;
}

/** A worker asks again within a minute, busy or not. The rest is for clocks that differ, ms. */
const FRESH_MS = 120_000;

/** Returns those that take up work: the engine remembers a worker for some minutes after its end. */
export function freshPollers(pollers: readonly Poller[], now: Date): Poller[] {
  return pollers.filter(({ askedAt }) => now.getTime() - askedAt.getTime() < FRESH_MS);
}

/**
 * How many workers take up work, of those that the engine has heard of lately, and in words when none does. The engine
 * remembers a worker for some minutes after its end; such a one does not count.
 */
export function workersAtWork(pollers: readonly Poller[], now: Date): WorkersAtWork {
  const fresh = freshPollers(pollers, now);
  const count = new Set(fresh.map(({ identity }) => identity)).size;
  if (count > 0) return { ok: true, reason: null, count };
  const last = Math.max(...pollers.map(({ askedAt }) => askedAt.getTime()));
  const since = pollers.length === 0 ? '' : ` since ${new Date(last).toISOString()}`;
  return { ok: false, reason: `no worker has asked for work${since}: sessions wait until one does`, count };
}
