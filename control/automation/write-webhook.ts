import type { Kysely } from 'kysely';
import {
  type DeliveryView,
  PING,
  type WebhookCreate,
  type WebhookCreated,
  type WebhookPatch,
  type WebhookView,
} from '../../domain/automation/webhook-schema.ts';
import { musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/database.ts';
import type { Database } from '../../store/tables.ts';
import {
  deleteWebhook,
  findWebhook,
  insertNotification,
  insertWebhook,
  lockWebhookName,
  updateWebhook,
} from '../../store/webhooks.ts';
import type { SecretStore } from '../configurations/ports.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { getWebhook, viewOfDelivery, viewOfWebhook, webhookNotFound } from './read-webhooks.ts';
import { newWebhookSecret, storeWebhookSecret, webhookSecretName } from './webhook-secret.ts';

/**
 * A secret is written while the name is locked, so that both are the same one's, and its store may need a connection to the database
 * of its own: many at once would take all of them and wait for each other.
 */
const inTurn = oneAtATime();

export interface WebhookDependencies {
  db: Kysely<Database>;
  secrets: Pick<SecretStore, 'putAll' | 'delete'>;
  clock(): Date;
  /** Who asks. */
  actor: string | null;
}

/**
 * Makes a webhook and answers it with its secret, the only time that it is shown.
 * @throws `webhook_exists`
 */
export async function createWebhook(deps: WebhookDependencies, wanted: WebhookCreate): Promise<WebhookCreated> {
  const { name, url, events, enabled = true, allow_private_redirects = false } = wanted;
  const secret = wanted.secret ?? newWebhookSecret();
  const now = deps.clock();
  const make = async (trx: Db) => {
    await lockWebhookName(trx, name);
    const row = await insertWebhook(trx, {
      name,
      url,
      events,
      enabled,
      allow_private_redirects,
      created_at: now,
      updated_at: now,
      actor: deps.actor,
    });
    if (row === null) throw musterError('webhook_exists', `A webhook with the name ${name} already exists`);
    // Before the record is there for others; one that is left over by a crash is replaced by the next create.
    await storeWebhookSecret(deps.secrets, name, secret, deps.actor);
    return { ...viewOfWebhook(row), secret };
  };
  return inTurn(() => deps.db.transaction().execute(make));
}

/** Changes the given members; throws `webhook_not_found`. */
export async function patchWebhook(deps: WebhookDependencies, name: string, patch: WebhookPatch): Promise<WebhookView> {
  const { secret, ...members } = patch;
  const change = { ...members, actor: deps.actor, updated_at: deps.clock() };
  const write = async (trx: Db) => {
    if (secret !== undefined) await lockWebhookName(trx, name);
    if (!(await updateWebhook(trx, name, change))) throw webhookNotFound(name);
    if (secret !== undefined) await storeWebhookSecret(deps.secrets, name, secret, deps.actor);
  };
  await (secret === undefined ? write(deps.db) : inTurn(() => deps.db.transaction().execute(write)));
  return getWebhook(deps, name);
}

/** Removes a webhook, what it was still to be told, and its secret; throws `webhook_not_found`. */
export async function removeWebhook(deps: WebhookDependencies, name: string): Promise<void> {
  const remove = async (trx: Db) => {
    // Whoever makes one of this name again waits until the record is gone, and writes his secret after that.
    await lockWebhookName(trx, name);
    if ((await findWebhook(trx, name)) === null) throw webhookNotFound(name);
    await deps.secrets.delete(webhookSecretName(name));
    await deleteWebhook(trx, name);
  };
  await inTurn(() => deps.db.transaction().execute(remove));
}

/** Sends a `ping` on its way; throws `webhook_not_found`. */
export async function testWebhook(deps: WebhookDependencies, name: string): Promise<DeliveryView> {
  const notification = await insertNotification(deps.db, name, PING, { actor: deps.actor });
  if (notification === null) throw webhookNotFound(name);
  return viewOfDelivery(notification);
}
