/**
 * How many playbooks this machine runs at once. Runs that were found at the start (a worker was replaced) hold their
 * slots until they end; waiters are served in the order in which they came.
 */
export class RunSlots {
  readonly #limit: number;
  readonly #held = new Set<string>();
  readonly #waiting: { runId: string; grant: () => void }[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Runs that hold a slot now. */
  get held(): number {
    return this.#held.size;
  }

  get limit(): number {
    return this.#limit;
  }

  /** Whether `acquire` would have to wait. */
  get full(): boolean {
    return this.#held.size >= this.#limit || this.#waiting.length > 0;
  }

  /** The run exists already, so it has a slot even if that is one too many. */
  adopt(runId: string): void {
    this.#held.add(runId);
  }

  /** Resolves when the run has a slot; rejects when `signal` aborts first. */
  async acquire(runId: string, signal: AbortSignal): Promise<void> {
    if (this.#held.has(runId)) return;
    signal.throwIfAborted();
    if (!this.full) {
      this.#held.add(runId);
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const waiter = {
        runId,
        grant: () => {
          signal.removeEventListener('abort', giveUp);
          resolve();
        },
      };
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.push(waiter);
    });
  }

  /** Gives the run's slot to the next in line, or lets it stop waiting for one; harmless for a run that has none. */
  release(runId: string): void {
    const waiting = this.#waiting.findIndex((waiter) => waiter.runId === runId);
    if (waiting >= 0) this.#waiting.splice(waiting, 1)[0]?.grant();
    if (!this.#held.delete(runId)) return;
    while (this.#held.size < this.#limit) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#held.add(next.runId);
      next.grant();
    }
  }
}
