import { setTimeout as delay } from 'node:timers/promises';

/** Waits until `question` answers something other than null, false or undefined; fails with `what` after `withinMs`. */
export async function eventually<T>(
  what: string,
  question: () => Promise<T | null | false | undefined> | T | null | false | undefined,
  withinMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const answer = await question();
    if (answer !== null && answer !== false && answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error(`not within ${withinMs / 1000} s: ${what}`);
    await delay(20);
  }
}
