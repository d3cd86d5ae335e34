import { setTimeout as delay } from 'node:timers/promises';
import { isMusterError } from '../domain/errors.ts';
import { messageOf } from '../domain/text/message-of.ts';

/** Tries until it works, with growing pauses up to 5 s: servers may come up after us, and go away for a while. */
export async function again<T>(
  what: string,
  log: { warn(fields: object, text: string): void },
  work: () => Promise<T>,
): Promise<T> {
  for (let pause = 100; ; pause = Math.min(5_000, pause * 2)) {
    try {
      return await work();
    } catch (error) {
      // No waiting brings a key back.
      if (isMusterError(error) && error.code === 'secret_unreadable') throw error;
      log.warn({ err: messageOf(error) }, `${what} is not there yet`);
      await delay(pause);
    }
  }
}
