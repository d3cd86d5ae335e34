import { setTimeout as delay } from 'node:timers/promises';
import { deadlineIn } from './deadline.ts';

/** Time (ms) of an answer about health: those who ask give up after 3.5 s. */
export const HEALTH_MS = 2_500;
/** Time (ms) of one exchange with Temporal for which a request waits. */
export const EXCHANGE_MS = 3_000;

/** Longest pause (ms) of the client between two tries of an exchange, and some time to hear that it is over. */
const LAST_TRY_MS = 6_000;

/** A client, or a connection. */
interface Temporal {
  withDeadline<T>(deadline: number, ask: () => Promise<T>): Promise<T>;
}

/** Exchanges that the client has not given up, though for some of them there is no waiter any more. */
const underWay = new Set<Promise<unknown>>();

/**
 * Talks with Temporal for `ms` at most. That includes the making of the connection, which the deadline of the client leaves out.
 * Returns what `ask` returns. Throws what `ask` throws, or that there was no answer in time.
 */
export async function askInTime<T>(temporal: Temporal, ms: number, ask: () => Promise<T>): Promise<T> {
  const answered = new AbortController();
  const late = Promise.withResolvers<never>();
  delay(ms, undefined, { ref: false, signal: answered.signal }).then(
    () => late.reject(new Error(`no answer within ${ms / 1000} s`)),
    () => undefined,
  );
  const asked = temporal.withDeadline(deadlineIn(ms), ask);
  const over = asked.then(
    () => undefined,
    () => undefined,
  );
  underWay.add(over);
  void over.then(() => underWay.delete(over));
  try {
    return await Promise.race([asked, late.promise]);
  } finally {
    answered.abort();
  }
}

/**
 * Waits until the client tries no exchange again, 6 s at most: a try on a connection that is closed would end the process. There is
 * nothing to wait for unless Temporal is away.
 */
export async function untilGivenUp(): Promise<void> {
  const stopped = new AbortController();
  const limit = delay(LAST_TRY_MS, undefined, { ref: false, signal: stopped.signal }).catch(() => undefined);
  await Promise.race([Promise.all(underWay), limit]);
  stopped.abort();
}
