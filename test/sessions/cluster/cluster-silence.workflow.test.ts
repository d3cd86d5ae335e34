import { expect, test } from '@jest/globals';
import { ActivityFailure, TimeoutFailure, type TimeoutType } from '@temporalio/common';
import { clusterSilence } from '../../../workflows/sessions/cluster/cluster-silence.ts';

const failure = (activity: string, timeout: TimeoutType) =>
  new ActivityFailure('gave up', activity, '1', 'TIMEOUT', 'worker', new TimeoutFailure('late', undefined, timeout));

test.each(['prepareJob', 'startJob', 'runLayer', 'finishJob'])('%s that no worker with a cluster took up', (name) => {
  expect(clusterSilence(failure(name, 'SCHEDULE_TO_START'))).toEqual({
    message:
      'no worker with a cluster took it up: start one that has MUSTER_RUNNER_AEE_IMAGE, MUSTER_RUNNER_UTIL_IMAGE and MUSTER_RUNNER_INGEST_URL set',
    reason: 'runner_unavailable',
  });
});

test.each([
  ['that a worker took up and fell silent over', 'prepareJob', 'HEARTBEAT'],
  ['that took too long', 'startJob', 'START_TO_CLOSE'],
  ['on images, which needs no cluster', 'planImages', 'SCHEDULE_TO_START'],
] as const)('work %s', (_what, name, timeout) => {
  expect(clusterSilence(failure(name, timeout))).toEqual({
    message: `${name} got no answer from a worker`,
    reason: 'runner_gone',
  });
});
