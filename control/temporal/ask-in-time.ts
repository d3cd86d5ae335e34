import { setTimeout as delay } from 'node:timers/promises';
import { deadlineIn } from './deadline.ts';

/** Time (ms) of an answer about health: those who ask give up after 3.5 s. */
export const HEALTH_MS = 2_500;
/** Time (ms) of one exchange with Temporal for which a request waits. */
export const EXCHANGE_MS = 3_000;

/** A client, or a connection. */
interface Temporal {
  withDeadline<T>(deadline: number, ask: () => Promise<T>): Promise<T>;
}

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
  try {
    return await Promise.race([temporal.withDeadline(deadlineIn(ms), ask), late.promise]);
  } finally {
    answered.abort();
  }
}
