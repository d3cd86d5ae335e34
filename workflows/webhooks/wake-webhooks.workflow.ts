/**
 * Goes on with what webhooks are to be told, started by a Schedule each minute: for what an announcement of the database did not
 * reach anybody.
 *
 *  1. start or wake the workflow of each webhook that has something due
 *
 * History: 11 events.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { WebhookActivities } from '../../activities/webhooks/contract.ts';

const { wakeWebhooks } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '30s',
  retry: { maximumAttempts: 3 },
});

export async function wakeWebhooksWorkflow(): Promise<void> {
  await wakeWebhooks();
}
