import { hostQueueOf } from '../../../../domain/engine/task-queues.ts';
import { startTestWorker } from '../../stack/session-bench.ts';
import { workflowBundle } from '../workflow-environment.ts';
import type { Histories, Recorded } from './recorded.ts';

/** The end of a run on its machine. */
const endRun: Recorded = async ({ environment }) => {
  const taskQueue = 'test-end-run';
  const stops = [
    await startTestWorker(environment, { taskQueue, workflowBundle: await workflowBundle() }),
    await startTestWorker(environment, {
      taskQueue: hostQueueOf('end-run-machine'),
      activities: { endOneRun: async () => ({ ended: true }) },
    }),
  ];
  const workflowId = 'end-run/toy-7-1';
  const args = [{ runId: 'toy-7-1', machine: 'end-run-machine' }];
  await environment.client.workflow.execute('endRunWorkflow', { workflowId, taskQueue, args });
  for (const stop of stops) await stop();
  return workflowId;
};

export const RUN_HISTORIES: Histories = { 'end-run': endRun };
