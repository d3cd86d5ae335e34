/** What the workflows of webhooks ask of their activities. */
import type { WebhookRef } from '../../domain/webhooks/activity-schema.ts';

export interface WebhookActivities {
  /** Tells a webhook what is due; milliseconds until the next try, null when nothing waits. */
  deliverNotifications(input: WebhookRef): Promise<{ nextMs: number | null }>;
  /** Starts what delivers to each webhook that has something due, and forgets what is old. */
  wakeWebhooks(): Promise<void>;
}
