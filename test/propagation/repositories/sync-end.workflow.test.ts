import { expect, test } from '@jest/globals';
import { ActivityFailure, ApplicationFailure, TimeoutFailure, TimeoutType } from '@temporalio/common';
import { syncEnd } from '../../../workflows/propagation/sync-end.ts';

const ended = (cause: Error | undefined) =>
  syncEnd(new ActivityFailure('gave up', 'syncRepository', '1', 'MAXIMUM_ATTEMPTS_REACHED', 'worker', cause));
const timeout = (type: TimeoutType) => new TimeoutFailure('late', undefined, type);

test.each([
  ['a worker that was lost', timeout(TimeoutType.HEARTBEAT), 'sync_timeout', /was lost, in each of 5 tries/],
  ['an hour that is over', timeout(TimeoutType.START_TO_CLOSE), 'sync_timeout', /was not read within an hour/],
  [
    'a refusal',
    ApplicationFailure.create({ type: 'clone_failed', message: 'no answer' }),
    'clone_failed',
    /^no answer$/,
  ],
  ['an error without a code', ApplicationFailure.create({ message: 'odd' }), 'internal', /^odd$/],
  ['no cause', undefined, 'internal', /^gave up$/],
])('a sync that ends by %s', (_what, cause, code, reason) => {
  expect(ended(cause)).toEqual({ code, reason: expect.stringMatching(reason) });
});
