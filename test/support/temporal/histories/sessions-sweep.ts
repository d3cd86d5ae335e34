/** Brings the sweep and the deletion of old sessions to their ends. */
import { ApplicationFailure } from '@temporalio/common';
import { hostQueueOf } from '../../../../domain/engine/task-queues.ts';
import { startTestWorker } from '../../stack/session-bench.ts';
import { type TestServer, workflowBundle } from '../workflow-environment.ts';
import type { Histories, Recorded } from './recorded.ts';

/** A sweep with one machine that cleans up and one that cannot. */
async function sweep({ environment }: TestServer): Promise<string> {
  const taskQueue = 'test-sweep';
  const stops = [
    await startTestWorker(environment, {
      taskQueue,
      workflowBundle: await workflowBundle(),
      activities: { sweepSessions: async () => ({ hosts: ['a', 'b'] }) },
    }),
    await startTestWorker(environment, {
      taskQueue: hostQueueOf('a'),
      activities: { cleanHost: async () => undefined },
    }),
    await startTestWorker(environment, {
      taskQueue: hostQueueOf('b'),
      activities: {
        cleanHost: async () => {
          throw ApplicationFailure.nonRetryable('read-only file system', 'internal');
        },
      },
    }),
  ];
  const handle = await environment.client.workflow.start('sweepWorkflow', { workflowId: 'sweep', taskQueue, args: [] });
  await handle.result();
  await Promise.all(stops.map((stop) => stop()));
  return handle.workflowId;
}

/** A sweep with a machine that does not answer. */
async function sweepAway({ environment }: TestServer): Promise<string> {
  const taskQueue = 'test-sweep-away';
  const stop = await startTestWorker(environment, {
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: { sweepSessions: async () => ({ hosts: ['gone'] }), noteMachineAway: async () => undefined },
  });
  const start = { workflowId: 'sweep-away', taskQueue, args: [] };
  const handle = await environment.client.workflow.start('sweepWorkflow', start);
  await handle.result();
  await stop();
  return handle.workflowId;
}

/** Two passes of the sweep that goes on, over a machine that cleans up, until somebody cancels it. */
const sweepGoesOn: Recorded = async ({ environment }) => {
  const taskQueue = 'test-sweep-goes-on';
  const [second, cleaned] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let [passes, clean] = [0, 0];
  const stops = [
    await startTestWorker(environment, {
      taskQueue,
      workflowBundle: await workflowBundle(),
      activities: {
        sweepSessions: async () => {
          passes += 1;
          if (passes === 2) second.resolve();
          return { hosts: ['sweep-machine'] };
        },
      },
    }),
    await startTestWorker(environment, {
      taskQueue: hostQueueOf('sweep-machine'),
      activities: {
        cleanHost: async () => {
          clean += 1;
          if (clean === 2) cleaned.resolve();
        },
      },
    }),
  ];
  const start = { workflowId: 'sweep-goes-on', taskQueue, args: [{ everyMs: 1 }] };
  const handle = await environment.client.workflow.start('sweepWorkflow', start);
  await Promise.all([second.promise, cleaned.promise]);
  await handle.cancel();
  await handle.result().catch(() => undefined);
  for (const stop of stops) await stop();
  return handle.workflowId;
};

/** The deletion of old sessions. */
async function expiry({ environment }: TestServer): Promise<string> {
  const taskQueue = 'test-session-ttl';
  const stop = await startTestWorker(environment, {
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: { expireSessions: async () => ({ deleted: 3 }) },
  });
  const start = { workflowId: 'session-ttl', taskQueue, args: [] };
  const handle = await environment.client.workflow.start('expireSessionsWorkflow', start);
  await handle.result();
  await stop();
  return handle.workflowId;
}

export const SWEEP_HISTORIES: Histories = {
  sweep,
  'sweep-machine-away': sweepAway,
  'sweep-goes-on': sweepGoesOn,
  'session-ttl': expiry,
};
