/**
 * How many playbooks this machine runs at once. Runs that were found at the start (a worker was replaced) hold their
 * slots until they end; waiters are served in the order in which they came.
 */
export class RunSlots {
  readonly #limit: number;
  readonly #held = new Set<string>();
  #waiting: { runId: string; grant: () => void }[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Runs that hold a slot now. */
  get held(): string[] {
    return [...this.#held];
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
    this.#give(runId);
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
        this.#waiting = this.#waiting.filter((other) => other !== waiter);
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.push(waiter);
    });
  }

  /** Gives the run's slot to the next in line, or lets it stop waiting for one; harmless for a run that has none. */
  release(runId: string): void {
    this.#grant(runId);
    this.#held.delete(runId);
    while (this.#held.size < this.#limit) {
      const next = this.#waiting[0];
      if (next === undefined) return;
      this.#give(next.runId);
    }
  }

  #give(runId: string): void {
    this.#held.add(runId);
    this.#grant(runId);
  }

  /** Lets everybody go on who waits for this run: it is started more than once when an activity is repeated. */
  #grant(runId: string): void {
    const granted = this.#waiting.filter((waiter) => waiter.runId === runId);
    this.#waiting = this.#waiting.filter((waiter) => waiter.runId !== runId);
    for (const { grant } of granted) grant();
  }
}
