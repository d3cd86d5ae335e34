/** How long a notification is tried, s. */
export const GIVE_UP_SECONDS = 24 * 3_600;
const FIRST_SECONDS = 5;
const LONGEST_SECONDS = 3_600;

/**
 * Pause before the next try, ms, after `attempts` failed ones; null when the next would come more than a day after the
 * notification was made. 5, 10, 20 s and so on, an hour at most; a receiver that says `Retry-After` (s) is given that time.
 */
export function nextTryMs(attempts: number, createdAt: number, now: number, retryAfter = 0): number | null {
  const own = Math.min(LONGEST_SECONDS, FIRST_SECONDS * 2 ** Math.min(20, Math.max(0, attempts - 1)));
  const pause = Math.max(own, Math.min(LONGEST_SECONDS, retryAfter)) * 1_000;
  return now + pause > createdAt + GIVE_UP_SECONDS * 1_000 ? null : pause;
}
