/**
 * Tells one webhook what happened, for as long as there is something to tell.
 *
 *  1. deliver what is due
 *  2. nothing waits: end; the next notification starts it again
 *  3. else wait for the next try or for a new notification, then again from 1
 *
 * History: some 13 events a round.
 */
import {
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { WebhookActivities } from '../../activities/webhooks/contract.ts';
import { notificationsDue } from './messages.ts';

const { deliverNotifications } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '1h',
  heartbeatTimeout: '30s',
  retry: { initialInterval: '5s', maximumInterval: '1m' },
});

export interface WebhookInput {
  name: string;
}

export async function webhookWorkflow({ name }: WebhookInput): Promise<void> {
  let isTold = false;
  setHandler(
    notificationsDue,
    () => {
      isTold = true;
    },
    { description: 'There is something that the webhook is to be told.' },
  );
  for (;;) {
    isTold = false;
    const { nextMs } = await deliverNotifications({ name });
    setCurrentDetails(nextMs === null ? 'nothing waits' : `tries again in ${Math.ceil(nextMs / 1000)} s`);
    if (nextMs !== null) await condition(() => isTold, Math.max(1, nextMs), { summary: 'until the next try' });
    else if (!isTold) return;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof webhookWorkflow>({ name });
  }
}
