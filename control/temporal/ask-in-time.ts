import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { deadlineIn } from './deadline.ts';

/** For an answer about health, ms: those who ask give up after 3.5 s. */
const ANSWER_MS = 2_500;

/**
 * What the server answers.
 * @throws its refusal, or that it did not answer within 2.5 s
 */
export async function askInTime<T>(connection: Connection, ask: () => Promise<T>): Promise<T> {
  return Promise.race([
    connection.withDeadline(deadlineIn(ANSWER_MS), ask),
    // The deadline does not cover the making of the connection.
    delay(ANSWER_MS, undefined, { ref: false }).then(() => {
      throw new Error(`no answer within ${ANSWER_MS / 1000} s`);
    }),
  ]);
}
