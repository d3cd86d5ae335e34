/** Runs `work` when what came before it for the same job has ended; one whose signal was aborted by then never begins. */
export type InTurn = <T>(jobId: string, signal: AbortSignal | undefined, work: () => Promise<T>) => Promise<T>;

/**
 * Turns of this process. A try that its engine has given up, and that does not know it yet, may still be at work when the next one
 * comes: together they would end each other's programs and remove each other's files.
 */
export function createTurns(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return async (jobId, signal, work) => {
    const before = last.get(jobId);
    const mine = (async () => {
      await before;
      signal?.throwIfAborted();
      return work();
    })();
    const ended = mine.then(
      () => undefined,
      () => undefined,
    );
    last.set(jobId, ended);
    try {
      return await mine;
    } finally {
      if (last.get(jobId) === ended) last.delete(jobId);
    }
  };
}
