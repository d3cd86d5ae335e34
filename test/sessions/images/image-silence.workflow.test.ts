import { expect, test } from '@jest/globals';
import { ActivityFailure, defaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import { imageSilence, reasonOf } from '../../../workflows/sessions/images/image-silence.ts';

/** Numbers of Temporal's protocol. */
const START_TO_CLOSE = 1;
const SCHEDULE_TO_START = 2;
const SCHEDULE_TO_CLOSE = 3;
const HEARTBEAT = 4;

const timeout = (timeoutType: number) => ({ message: 'activity timeout', timeoutFailureInfo: { timeoutType } });
const failure = (type: string) => ({
  message: 'the image service says no',
  applicationFailureInfo: { type, nonRetryable: false },
});

/** Work whose time ran out as the engine says it and the SDK reads it; `last`: how the try before it ended. */
function late(name: string, timeoutType: number, last?: object): ActivityFailure {
  const cause = { ...timeout(timeoutType), cause: last };
  const said = { message: 'activity task timed out', activityFailureInfo: { activityType: { name } }, cause };
  const error = defaultFailureConverter.failureToError(said, defaultPayloadConverter);
  if (error instanceof ActivityFailure) return error;
  throw new Error('no failure of an activity');
}

test.each(['planImages', 'makeImageKey', 'releaseImages'])('%s that was not done in its time', (name) => {
  expect(imageSilence(late(name, SCHEDULE_TO_CLOSE))).toEqual({
    message: `${name} was not done in its time: no worker took it up, or the image service did not answer (MUSTER_IMS_URL)`,
    reason: 'image_service_unavailable',
  });
});

test.each([
  ['nobody took it', SCHEDULE_TO_START, 'no worker took it up', 'runner_unavailable'],
  [
    'a try hung',
    START_TO_CLOSE,
    'a worker tried it, and the image service did not answer (MUSTER_IMS_URL)',
    'image_service_unavailable',
  ],
  ['its worker died', HEARTBEAT, 'the worker that tried it is gone', 'runner_gone'],
])('by a time that ran out it is known who was at it: %s', (_, type, why, reason) => {
  const said = { message: `planImages was not done in its time: ${why}`, reason };
  expect(imageSilence(late('planImages', type))).toEqual(said);
  // So ended the last try before the time for all of them was over.
  expect(imageSilence(late('planImages', SCHEDULE_TO_CLOSE, timeout(type)))).toEqual(said);
});

test.each([
  ['image_service_refused', 'image_service_refused'],
  ['image_not_ready', 'image_wait_timeout'],
  ['TypeError', 'internal'],
])('its last failure is told where it is known: %s', (type, reason) => {
  const said = { message: 'the image service says no', reason };
  expect(imageSilence(late('openImage', SCHEDULE_TO_CLOSE, failure(type)))).toEqual(said);
  expect(reasonOf({ type })).toBe(reason);
});

test('other work, and other ends, say nothing of it', () => {
  expect(imageSilence(late('cloneLayers', SCHEDULE_TO_CLOSE))).toBeNull();
  expect(imageSilence({ activityType: 'planImages', cause: new Error('stopped') })).toBeNull();
});
