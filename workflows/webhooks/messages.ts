/** Everything that can be said to the workflows of webhooks. */
import { defineSignal } from '@temporalio/workflow';

/** There is something that a webhook is to be told. */
export const notificationsDue = defineSignal('notificationsDue');
