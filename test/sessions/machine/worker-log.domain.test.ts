import { Writable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { engineLogger, openWorkerLog } from '../../../worker/worker-log.ts';

test('the log says why an activity failed', () => {
  const lines: string[] = [];
  const to = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const error = ApplicationFailure.create({ message: 'The vault is sealed', type: 'trust_unavailable' });
  engineLogger(openWorkerLog('info', to)).warn('Activity failed', { activityType: 'renewTrust', error });
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    temporal: 'WARN',
    msg: 'Activity failed',
    activityType: 'renewTrust',
    error: { message: 'The vault is sealed', type: 'trust_unavailable' },
  });
});
