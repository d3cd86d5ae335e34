import { setTimeout as delay } from 'node:timers/promises';

const PAUSE_MIN_MS = 50;
const PAUSE_MAX_MS = 500;
/** Of the time that has passed: asking adds so much to it at most, and a long wait leaves the machine to what is waited for. */
const PAUSE_PART = 0.1;

/**
 * Waits until `question` answers something other than null, false or undefined; fails with `what` after `withinMs`, and with what was
 * `seen` then. It asks the more seldom the longer that takes.
 */
export async function eventually<T>(
  what: string,
  question: () => Promise<T | null | false | undefined> | T | null | false | undefined,
  withinMs = 60_000,
  seen?: () => unknown,
): Promise<T> {
  const begun = Date.now();
  for (;;) {
    const answer = await question();
    if (answer !== null && answer !== false && answer !== undefined) return answer;
    const passed = Date.now() - begun;
    if (passed > withinMs) {
      const instead = seen === undefined ? '' : `; seen: ${JSON.stringify(await seen())}`;
      throw new Error(`not within ${withinMs / 1000} s: ${what}${instead}`);
    }
    await delay(Math.min(PAUSE_MAX_MS, Math.max(PAUSE_MIN_MS, passed * PAUSE_PART)));
  }
}
