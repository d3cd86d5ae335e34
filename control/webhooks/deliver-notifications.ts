import { storableText } from '../../domain/runs/storable-text.ts';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import { maskUrlCredentials } from '../../domain/text/mask-url.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import type { WebhookSender } from '../../domain/webhooks/ports.ts';
import { withoutWebhookAddress } from '../../domain/webhooks/webhook-address.ts';
import { webhookBody } from '../../domain/webhooks/webhook-body.ts';
import { nextTryMs } from '../../domain/webhooks/webhook-retry.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  findDueNotifications,
  findNextTry,
  findWebhook,
  type NotificationRow,
  noteDelivery,
  type WebhookRow,
} from '../../store/webhooks/webhooks.ts';
import type { AddressSeal } from './address-seal.ts';
import { wholeAddress } from './webhook-address.ts';
import { readWebhookSecret, signatureOf } from './webhook-secret.ts';

export interface DeliveryDependencies {
  db: Db;
  secrets: Pick<SecretStore, 'get'>;
  addressSeal: AddressSeal;
  webhooks: WebhookSender;
  clock(): Date;
}

/** Requests to one receiver at once. */
const WIDTH = 4;
const ERROR_MAX = 500;

/**
 * Delivers what a webhook is to be told now, oldest first, until nothing is due. Answers when the next try is; null when nothing
 * waits, or the webhook is gone or disabled. A crash after a receiver's answer repeats that one: its id is the same.
 */
export async function deliverNotifications(
  deps: DeliveryDependencies,
  name: string,
  signal: AbortSignal,
): Promise<Date | null> {
  for (;;) {
    const webhook = await findWebhook(deps.db, name);
    if (webhook === null || !webhook.enabled) return null;
    const due = await findDueNotifications(deps.db, name, deps.clock(), WIDTH);
    if (due.length === 0) return findNextTry(deps.db, name);
    await Promise.all(due.map((notification) => deliver(deps, webhook, notification, signal)));
    signal.throwIfAborted();
  }
}

async function deliver(
  deps: DeliveryDependencies,
  webhook: WebhookRow,
  notification: NotificationRow,
  signal: AbortSignal,
): Promise<void> {
  const outcome = await attempt(deps, webhook, notification, signal);
  // Not the receiver's fault: the next worker tries again.
  if (signal.aborted) return;
  const now = deps.clock();
  const { status, error, retryAfter } = outcome;
  if (error === null) return noteDelivery(deps.db, notification.id, { state: 'delivered', now, status, error });
  const pause = nextTryMs(notification.attempts + 1, notification.created_at.getTime(), now.getTime(), retryAfter);
  const later =
    pause === null
      ? { state: 'failed' as const }
      : { state: 'waiting' as const, nextTryAt: new Date(now.getTime() + pause) };
  return noteDelivery(deps.db, notification.id, { ...later, now, status, error });
}

/** One try: the receiver's status, and what was wrong or null. */
async function attempt(
  deps: DeliveryDependencies,
  webhook: WebhookRow,
  { id, event, data, created_at: createdAt }: NotificationRow,
  signal: AbortSignal,
): Promise<{ status: number | null; error: string | null; retryAfter: number }> {
  const { secrets, webhooks, clock } = deps;
  const body = webhookBody({ id, event, data, createdAt });
  let address = '';
  try {
    const secret = await readWebhookSecret(secrets, webhook.name);
    if (secret === null) return { status: null, error: 'its secret is gone: set another one', retryAfter: 0 };
    address = await wholeAddress(deps, webhook);
    const { status, retryAfter } = await webhooks.send({
      url: address,
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Muster',
        'muster-event': event,
        'muster-delivery': id,
        'muster-signature': signatureOf(secret, body, clock()),
      },
      allowPrivateRedirects: webhook.allow_private_redirects,
      signal,
    });
    const isTaken = status >= 200 && status < 300;
    return { status, error: isTaken ? null : `answers with status ${status}`, retryAfter };
  } catch (error) {
    const text = messageOf(error);
    const shown = maskUrlCredentials(address === '' ? text : withoutWebhookAddress(text, address));
    return { status: null, error: storableText(shown).slice(0, ERROR_MAX), retryAfter: 0 };
  }
}
