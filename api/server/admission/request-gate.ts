/** Lets in as many requests as can be worked on, lets a burst wait, and refuses what comes faster than it can be done. */

export interface GateLimits {
  /** Requests that are worked on at once. */
  active: number;
  /**
   * Requests that may wait at once. When more than these have come since the queue was last empty, it is no burst but a load
   * that lasts: then none waits for longer than twice the patience.
   */
  burst: number;
  /**
   * A queue whose oldest request has waited for so long, ms, is served from its newest end: what is let in has then hardly
   * waited, while the oldest would be refused in the end. Below it the queue is served in order, so that a steady number
   * of clients is never refused.
   */
  patience: number;
  /** A request of a burst waits no longer than this, ms. */
  longest: number;
}

export interface RequestGate {
  /** Resolves to whether the request was let in; each that was must `leave`. */
  enter(): Promise<boolean>;
  leave(): void;
  /** Whether one that came now would be refused. */
  isShut(): boolean;
  /** How many are worked on and how many wait. */
  counts(): { active: number; waiting: number };
}

/** How often the queue is looked at, ms. */
const LOOK_MS = 50;
/** First time that nobody may wait after one has waited for too long, ms; doubled while that repeats. */
const CLOSED_MS = 1_000;
const LONGEST_CLOSED_MS = 16_000;
/** A load that comes back within this time after a closure, ms, is the same one. */
const SAME_LOAD_MS = 5_000;

interface Waiting {
  since: number;
  answer(isIn: boolean): void;
}

/** A gate; `now` is a clock that never goes back, in ms. */
export function createRequestGate(limits: GateLimits, now: () => number = () => performance.now()): RequestGate {
  const queue: Waiting[] = [];
  let active = 0;
  /** Requests since the queue was last empty. */
  let come = 0;
  let closedUntil = Number.NEGATIVE_INFINITY;
  let closedFor = 0;

  const isSameLoad = () => now() < closedUntil + SAME_LOAD_MS;
  const isShut = () => active >= limits.active && (queue.length >= limits.burst || now() < closedUntil);

  const letIn = () => {
    while (active < limits.active && queue.length > 0) {
      const isLate = now() - (queue[0]?.since ?? 0) > limits.patience;
      const next = isLate ? queue.pop() : queue.shift();
      active += 1;
      next?.answer(true);
    }
  };
  const look = () => {
    const oldest = queue[0];
    if (oldest === undefined) return;
    const isLasting = come > limits.burst || isSameLoad();
    if (now() - oldest.since < (isLasting ? 2 * limits.patience : limits.longest)) {
      setTimeout(look, LOOK_MS);
      return;
    }
    closedFor = isSameLoad() ? Math.min(2 * closedFor, LONGEST_CLOSED_MS) : CLOSED_MS;
    closedUntil = now() + closedFor;
    for (const { answer } of queue.splice(0)) answer(false);
  };

  return {
    isShut,
    enter: () => {
      if (active < limits.active) {
        active += 1;
        return Promise.resolve(true);
      }
      come = queue.length === 0 ? 1 : come + 1;
      if (isShut()) return Promise.resolve(false);
      return new Promise((answer) => {
        queue.push({ since: now(), answer });
        if (queue.length === 1) setTimeout(look, LOOK_MS);
      });
    },
    leave: () => {
      active -= 1;
      letIn();
    },
    counts: () => ({ active, waiting: queue.length }),
  };
}
