/** What the URL of the page of webhooks says. */
import { listReader } from '../shared/list/filters.ts';

/** Returns what the URL says: `shown` is the webhook that is looked at. */
export const readWebhookSearch = listReader([]);
