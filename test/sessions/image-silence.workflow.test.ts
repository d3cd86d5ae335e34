import { expect, test } from '@jest/globals';
import { ApplicationFailure, TimeoutFailure, type TimeoutType } from '@temporalio/common';
import { imageSilence } from '../../workflows/sessions/image-silence.ts';

const late = (activityType: string, timeout: TimeoutType, last?: Error) => ({
  activityType,
  cause: Object.assign(new TimeoutFailure('late', undefined, timeout), { cause: last }),
});

test.each(['planImages', 'makeImageKey', 'releaseImages'])('%s that was not done in its time', (name) => {
  expect(imageSilence(late(name, 'SCHEDULE_TO_CLOSE'))).toEqual({
    message: `${name} was not done in its time: no worker took it up, or the image service did not answer`,
    reason: 'image_service_unavailable',
  });
});

test('its last failure is told where it is known', () => {
  const last = ApplicationFailure.create({ type: 'image_service_refused', message: 'the image service says no' });
  expect(imageSilence(late('planImages', 'SCHEDULE_TO_CLOSE', last))).toEqual({
    message: 'the image service says no',
    reason: 'image_service_refused',
  });
});

test('other work, and other ends, say nothing of it', () => {
  expect(imageSilence(late('cloneLayers', 'SCHEDULE_TO_CLOSE'))).toBeNull();
  expect(imageSilence({ activityType: 'planImages', cause: new Error('stopped') })).toBeNull();
});
