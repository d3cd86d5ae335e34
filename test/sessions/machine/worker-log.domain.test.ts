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

test('the log leaves out that a session failed, and nothing else', () => {
  const said: string[] = [];
  const logger = engineLogger({ warn: (_fields: object, text?: string) => void said.push(String(text)) });
  // As an error comes out of the workflow's thread: without its class.
  const failure = structuredClone(ApplicationFailure.nonRetryable('no host', 'session_failed'));
  logger.warn('Workflow failed', { workflowType: 'sessionWorkflow', error: failure });
  expect(said).toEqual([]);
  logger.warn('Workflow failed', { workflowType: 'sessionWorkflow', error: new TypeError('a mistake') });
  logger.warn('Workflow failed', { workflowType: 'batcherWorkflow', error: failure });
  logger.warn('Failing workflow task', { workflowType: 'sessionWorkflow', error: failure });
  expect(said).toEqual(['Workflow failed', 'Workflow failed', 'Failing workflow task']);
});
