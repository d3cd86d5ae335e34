/** Runs `work` when all earlier work under the same key has ended; gives up with the signal's reason while it waits. */
export type KeyedMutex = <T>(key: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/** A mutex per key for this process; keys that nobody uses take no memory. */
export function createKeyedMutex(): KeyedMutex {
  const tails = new Map<string, Promise<void>>();
  return async (key, signal, work) => {
    const before = tails.get(key) ?? Promise.resolve();
    const { promise: done, resolve: finish } = Promise.withResolvers<void>();
    const tail = before.then(() => done);
    tails.set(key, tail);
    try {
      await orAborted(before, signal);
      return await work();
    } finally {
      finish();
      if (tails.get(key) === tail) tails.delete(key);
    }
  };
}

/** Waits for `promise`, or rejects with the signal's reason when that comes first. */
async function orAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
