/** What the workflows of webhooks hand to their activities. */
import { z } from 'zod';

/** A webhook's name becomes no path. */
export const WebhookRefSchema = z.object({ name: z.string().min(1).max(300) });
export type WebhookRef = z.infer<typeof WebhookRefSchema>;
