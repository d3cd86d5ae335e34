/** Brings the batcher to its end. */
import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import { pokeBatcher } from '../../../../workflows/batches/messages.ts';
import { startTestWorker } from '../../stack/session-bench.ts';
import { type TestServer, workflowBundle } from '../workflow-environment.ts';
import type { Histories } from './recorded.ts';

/** The batcher: a pass, one by its timer, one by a poke, one that fails. */
async function batcher({ environment }: TestServer): Promise<string> {
  const taskQueue = 'test-batcher';
  let passes = 0;
  const stop = await startTestWorker(environment, {
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: {
      runBatcherPass: async () => {
        passes += 1;
        if (passes === 4) throw ApplicationFailure.nonRetryable('the database is away', 'internal');
        const waitMs = passes === 1 || passes === 3 ? 100 : 3_600_000;
        return { waitMs, nextAt: Date.now() + waitMs, restMs: 10, summary: `pass ${passes}` };
      },
    },
  });
  const start = { workflowId: 'batcher', taskQueue, args: [] };
  const handle = await environment.client.workflow.start('batcherWorkflow', start);
  while (passes < 2) await delay(50);
  await handle.signal(pokeBatcher);
  while (passes < 5) await delay(50);
  await handle.terminate('recorded');
  await stop();
  return handle.workflowId;
}

/** The start of the batcher by its schedule. */
async function ensureBatcher({ environment }: TestServer): Promise<string> {
  const taskQueue = 'test-ensure-batcher';
  const stop = await startTestWorker(environment, {
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: { ensureBatcher: async () => undefined },
  });
  const start = { workflowId: 'ensure-batcher', taskQueue, args: [] };
  const handle = await environment.client.workflow.start('ensureBatcherWorkflow', start);
  await handle.result();
  await stop();
  return handle.workflowId;
}

export const BATCH_HISTORIES: Histories = { batcher, 'ensure-batcher': ensureBatcher };
