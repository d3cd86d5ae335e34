/** How long a group waits for its cluster. */

export interface RetryRule {
  /** First wait, seconds. */
  firstSeconds: number;
  /** Each wait is so many times the former. */
  backoff: number;
  /** Longest wait, seconds. */
  maxSeconds: number;
  /** Null: for ever. */
  maxRetries: number | null;
}

/** Returns the limit of retries that a text names; null, which is for ever, where it is empty, negative or no whole number. */
export function readMaxRetries(text: string): number | null {
  return /^[0-9]{1,9}$/.test(text.trim()) ? Number(text) : null;
}

/** Returns the length of the n-th wait in seconds, counted from 1. */
export function waitSeconds(rule: RetryRule, n: number): number {
  return Math.min(rule.maxSeconds, rule.firstSeconds * rule.backoff ** Math.max(0, n - 1));
}

/** Returns what is left of a wait at a time, ms; below 0: it is over. */
export function leftOf({ since, retryMs }: { since: Date; retryMs: number }, now: Date): number {
  return since.getTime() + retryMs - now.getTime();
}

/** Whether a group gives up after so many waits without success. */
export function isExhausted({ maxRetries }: Pick<RetryRule, 'maxRetries'>, waits: number): boolean {
  return maxRetries !== null && waits > maxRetries;
}
