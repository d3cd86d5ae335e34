/** Brings deliveries to webhooks to their ends. */
import { notificationsDue } from '../../../../workflows/webhooks/messages.ts';
import { startTestWorker } from '../../stack/session-bench.ts';
import { workflowBundle } from '../workflow-environment.ts';
import type { Histories, Recorded } from './recorded.ts';

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

export const WEBHOOK_HISTORIES: Histories = {
  webhook: webhook('webhook', [null], true),
  'webhook-retried': webhook('webhook-retried', [20, 20, null]),
  'wake-webhooks': wakeWebhooks,
};
