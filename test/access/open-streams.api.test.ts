import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { watchOpenStreams } from '../../api/server/access/open-streams.ts';

/** What is promised for a token that is revoked, less what a look at the tokens may take, ms. */
const LATEST = 4_500;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** An answer that has begun and goes on. */
function stream() {
  const response = Object.assign(new EventEmitter(), {
    headersSent: true,
    writableEnded: false,
    destroyed: false,
    destroy: () => {
      response.destroyed = true;
      response.emit('close');
    },
  });
  return response as typeof response & ServerResponse;
}

test('a stream whose token is revoked ends within 5 s, and no other one', async () => {
  let isRevoked = false;
  const streams = watchOpenStreams(async (token) => {
    const isGood = token === 'kept' || !isRevoked;
    // Just after a look, so that all of the pause has to pass.
    isRevoked ||= token === 'revoked';
    return isGood;
  });
  const [kept, revoked] = [stream(), stream()];
  streams.opened('kept', kept);
  streams.opened('revoked', revoked);
  while (!isRevoked) await jest.advanceTimersByTimeAsync(10);
  expect(revoked.destroyed).toBe(false);
  await jest.advanceTimersByTimeAsync(LATEST);
  expect([kept.destroyed, revoked.destroyed]).toEqual([false, true]);
  streams.close();
});
