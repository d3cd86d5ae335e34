/** Starts again what is always to run. A worker looks for that by itself: a workflow for each look would bury sessions in Temporal's web UI. */
import { setTimeout as delay } from 'node:timers/promises';

/** Half of the minute within which what was ended goes on. */
const EVERY_MS = 30_000;

/**
 * Does each of `parts` now and then; what fails is tried again the next time, and keeps none of the others from it. Answers how to stop.
 * @param everyMs between two times; default half a minute
 */
export function keepRunning(
  parts: Readonly<Record<string, () => Promise<unknown>>>,
  log: { warn(fields: object, message: string): void },
  everyMs = EVERY_MS,
): () => Promise<void> {
  const stopped = new AbortController();
  const { signal } = stopped;
  const keep = async (name: string, look: () => Promise<unknown>) => {
    while (!signal.aborted) {
      await delay(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      await look().catch((error) => log.warn({ err: String(error) }, `not seen to: ${name}`));
    }
  };
  const keeping = Object.entries(parts).map(([name, look]) => keep(name, look));
  return async () => {
    stopped.abort();
    await Promise.all(keeping);
  };
}
