/** Brings workflows of single lanes to their ends, each in its own way, so that their histories can be recorded. */
import { hostQueueOf } from '../../../domain/engine/task-queues.ts';
import { notificationsDue } from '../../../workflows/webhooks/messages.ts';
import { startTestWorker } from '../stack/session-bench.ts';
import { type TestServer, workflowBundle } from './workflow-environment.ts';

/** Returns the id of a workflow whose history is worth keeping. */
type Recorded = (server: TestServer) => Promise<string>;

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

/** Deliveries to one webhook; each answer says when the next try is due, null when nothing waits. */
const webhook =
  (name: string, answers: (number | null)[], told = false): Recorded =>
  async ({ environment }) => {
    const taskQueue = `test-${name}`;
    let round = 0;
    const stop = await startTestWorker(environment, {
      taskQueue,
      workflowBundle: await workflowBundle(),
      activities: { deliverNotifications: async () => ({ nextMs: answers[round++] ?? null }) },
    });
    const start = { workflowId: name, taskQueue, args: [{ name }] };
    const handle = told
      ? await environment.client.workflow.signalWithStart('webhookWorkflow', { ...start, signal: notificationsDue })
      : await environment.client.workflow.start('webhookWorkflow', start);
    await handle.result();
    await stop();
    return handle.workflowId;
  };

const wakeWebhooks: Recorded = async ({ environment }) => {
  const taskQueue = 'test-wake-webhooks';
  const stop = await startTestWorker(environment, {
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: { wakeWebhooks: async () => undefined },
  });
  const workflowId = 'wake-webhooks';
  await environment.client.workflow.execute('wakeWebhooksWorkflow', { workflowId, taskQueue, args: [] });
  await stop();
  return workflowId;
};

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

export const LANE_HISTORIES: Record<string, Recorded> = {
  'end-run': endRun,
  webhook: webhook('webhook', [null], true),
  'webhook-retried': webhook('webhook-retried', [20, 20, null]),
  'wake-webhooks': wakeWebhooks,
  'sweep-goes-on': sweepGoesOn,
};
