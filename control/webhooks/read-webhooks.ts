import { type MusterError, musterError } from '../../domain/errors.ts';
import { wireTime } from '../../domain/text/times.ts';
import { shownWebhookAddress } from '../../domain/webhooks/webhook-address.ts';
import type { DeliveryState, DeliveryView, WebhookView } from '../../domain/webhooks/webhook-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  findWebhook,
  listNotifications,
  listWebhooks,
  type NotificationRow,
  type WebhookRow,
} from '../../store/webhooks/webhooks.ts';

export function webhookNotFound(name: string): MusterError {
  return musterError('webhook_not_found', `Webhook ${name} could not be found`);
}

export function viewOfWebhook(row: WebhookRow): WebhookView {
  return {
    name: row.name,
    url: shownWebhookAddress(row.url),
    events: row.events,
    enabled: row.enabled,
    allow_private_redirects: row.allow_private_redirects,
    waiting: row.waiting,
    created_at: wireTime(row.created_at),
    updated_at: wireTime(row.updated_at),
    updated_by: row.actor,
  };
}

export function viewOfDelivery(row: NotificationRow): DeliveryView {
  return {
    id: row.id,
    event: row.event,
    state: row.state,
    attempts: row.attempts,
    created_at: wireTime(row.created_at),
    next_try_at: row.state === 'waiting' ? wireTime(row.next_try_at) : null,
    delivered_at: row.delivered_at && wireTime(row.delivered_at),
    last_status: row.last_status,
    last_error: row.last_error,
    data: row.data,
  };
}

/** The webhook; throws `webhook_not_found`. */
export async function getWebhook(deps: { db: Db }, name: string): Promise<WebhookView> {
  const row = await findWebhook(deps.db, name);
  if (row === null) throw webhookNotFound(name);
  return viewOfWebhook(row);
}

/** A page of webhooks by name, and whether there are more. */
export async function pageOfWebhooks(
  deps: { db: Db },
  after: string,
  limit: number,
): Promise<{ webhooks: WebhookView[]; more: boolean }> {
  const rows = await listWebhooks(deps.db, after, limit + 1);
  return { webhooks: rows.slice(0, limit).map(viewOfWebhook), more: rows.length > limit };
}

/** A page of a webhook's deliveries, newest first, and whether there are more; throws `webhook_not_found`. */
export async function pageOfDeliveries(
  deps: { db: Db },
  name: string,
  page: { state: DeliveryState | undefined; afterId: string; limit: number },
): Promise<{ deliveries: DeliveryView[]; more: boolean }> {
  await getWebhook(deps, name);
  const rows = await listNotifications(deps.db, name, { ...page, limit: page.limit + 1 });
  return { deliveries: rows.slice(0, page.limit).map(viewOfDelivery), more: rows.length > page.limit };
}
