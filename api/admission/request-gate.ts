/** Lets in as many requests as can be worked on, lets a burst wait for a moment, and refuses what is too much. */

export interface GateLimits {
  /** Requests that are worked on at once. */
  active: number;
  /** Requests that wait at most. */
  waiting: number;
  /**
   * A queue whose oldest request has waited for so long, ms, is served from its newest end: what is let in then has hardly
   * waited, while the oldest of an overload are refused anyway. Below it the queue is served in order, so that a steady
   * number of clients is never refused.
   */
  patience: number;
  /** A request waits no longer than this, ms. When the first one has, nobody may wait for a while. */
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

/** First time that nobody may wait after a request has waited for too long, ms; doubled while that repeats. */
const CLOSED_MS = 1_000;
const LONGEST_CLOSED_MS = 16_000;

interface Waiting {
  since: number;
  answer(isIn: boolean): void;
}

/** A gate; `now` is a clock that never goes back, in ms. */
export function createRequestGate(limits: GateLimits, now: () => number = () => performance.now()): RequestGate {
  const queue: Waiting[] = [];
  let active = 0;
  let isTimed = false;
  let closedUntil = Number.NEGATIVE_INFINITY;
  let closedFor = 0;

  const letIn = () => {
    while (active < limits.active && queue.length > 0) {
      const isLate = now() - (queue[0]?.since ?? 0) > limits.patience;
      const next = isLate ? queue.pop() : queue.shift();
      active += 1;
      next?.answer(true);
    }
  };
  const refuseAll = () => {
    isTimed = false;
    const oldest = queue[0];
    if (oldest === undefined) return;
    const left = oldest.since + limits.longest - now();
    if (left > 0) {
      refuseAfter(left);
      return;
    }
    // Closed again soon after it was opened: the load lasts.
    const lasts = now() < closedUntil + 2 * limits.longest;
    closedFor = lasts ? Math.min(2 * closedFor, LONGEST_CLOSED_MS) : CLOSED_MS;
    closedUntil = now() + closedFor;
    for (const { answer } of queue.splice(0)) answer(false);
  };

  const refuseAfter = (milliseconds: number) => {
    isTimed = true;
    setTimeout(refuseAll, milliseconds);
  };
  const isShut = () => active >= limits.active && (queue.length >= limits.waiting || now() < closedUntil);

  return {
    isShut,
    enter: () => {
      if (active < limits.active) {
        active += 1;
        return Promise.resolve(true);
      }
      if (isShut()) return Promise.resolve(false);
      return new Promise((answer) => {
        queue.push({ since: now(), answer });
        if (!isTimed) refuseAfter(limits.longest);
      });
    },
    leave: () => {
      active -= 1;
      letIn();
    },
    counts: () => ({ active, waiting: queue.length }),
  };
}
