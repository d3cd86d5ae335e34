/** Brings the hardware sync to its end. */
import { ApplicationFailure } from '@temporalio/common';
import { startTestWorker } from '../../stack/session-bench.ts';
import { type TestServer, workflowBundle } from '../workflow-environment.ts';
import type { Histories } from './recorded.ts';

/** The hardware sync: two passes, one that is broken off, and the end where no hardware manager is set any more. */
async function hardwareSync({ environment }: TestServer): Promise<string> {
  const taskQueue = 'test-hardware-sync';
  let passes = 0;
  const stop = await startTestWorker(environment, {
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: {
      syncHardware: async () => {
        passes += 1;
        if (passes === 2) throw ApplicationFailure.nonRetryable('the database is away', 'internal');
        return passes === 4 ? null : { waitMs: 100, summary: `pass ${passes}` };
      },
    },
  });
  const start = { workflowId: 'hardware-sync', taskQueue, args: [] };
  const handle = await environment.client.workflow.start('hardwareSyncWorkflow', start);
  await handle.result();
  await stop();
  return handle.workflowId;
}

/** The start of the hardware sync by its schedule. */
async function ensureHardwareSync({ environment }: TestServer): Promise<string> {
  const taskQueue = 'test-ensure-hardware-sync';
  const stop = await startTestWorker(environment, {
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: { ensureHardwareSync: async () => undefined },
  });
  const start = { workflowId: 'ensure-hardware-sync', taskQueue, args: [] };
  const handle = await environment.client.workflow.start('ensureHardwareSyncWorkflow', start);
  await handle.result();
  await stop();
  return handle.workflowId;
}

export const COMPONENT_HISTORIES: Histories = {
  'hardware-sync': hardwareSync,
  'ensure-hardware-sync': ensureHardwareSync,
};
