/** Gathers what is told of objects, so that a storm of events is few writes: of each object the last word counts. */

export interface SeenBatch<Change> {
  /** Takes a change of an object; waits while too much is waiting to be written. Throws what a write has thrown. */
  add(key: string, change: Change): Promise<void>;
  /** Writes everything that was taken. Throws what a write has thrown. */
  flush(): Promise<void>;
  /** Aborted as soon as a write has thrown. */
  broken: AbortSignal;
  /** Writes nothing more. */
  close(): void;
}

export interface SeenBatchLimits {
  /** Changes in one write. */
  most: number;
  /** Rest between a change and its write, ms. */
  restMs: number;
  /** The same, from the former write on, where changes come without end, ms. */
  stormMs: number;
}

/** Of what is told of live objects. */
const SEEN: SeenBatchLimits = { most: 500, restMs: 100, stormMs: 700 };

/** Makes a batch; `write` is never called while it is at work. */
export function createSeenBatch<Change>(
  write: (changes: Change[]) => Promise<void>,
  { most, restMs, stormMs } = SEEN,
): SeenBatch<Change> {
  let waiting = new Map<string, Change>();
  let writing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let wroteAt = Number.NEGATIVE_INFINITY;
  const broken = new AbortController();
  let isClosed = false;

  const flush = async () => {
    clearTimeout(timer);
    timer = undefined;
    const taken = waiting;
    waiting = new Map();
    writing = writing.then(async () => {
      if (broken.signal.aborted || isClosed || taken.size === 0) return;
      try {
        await write([...taken.values()]);
        wroteAt = performance.now();
      } catch (error) {
        // What is lost here is found out again: live objects by the next list, outcomes by the next try of the activity.
        broken.abort(error);
      }
    });
    await writing;
    broken.signal.throwIfAborted();
  };

  const pause = () => Math.max(restMs, wroteAt + stormMs - performance.now());

  return {
    async add(key, change) {
      broken.signal.throwIfAborted();
      // The last word comes last.
      waiting.delete(key);
      waiting.set(key, change);
      if (waiting.size >= most) await flush();
      else timer ??= setTimeout(() => void flush().catch(() => undefined), pause());
    },
    flush,
    broken: broken.signal,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
