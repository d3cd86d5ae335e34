import type { Acting } from '../../domain/access/acting.ts';
import { musterError } from '../../domain/errors.ts';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import { givenWebhookAddress, shownWebhookAddress } from '../../domain/webhooks/webhook-address.ts';
import {
  type DeliveryView,
  PING,
  type WebhookCreate,
  type WebhookCreated,
  type WebhookPatch,
  type WebhookView,
} from '../../domain/webhooks/webhook-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { holdKey } from '../../store/secrets/key-lock.ts';
import {
  deleteWebhook,
  findWebhook,
  insertNotification,
  insertWebhook,
  lockWebhookName,
  updateWebhook,
} from '../../store/webhooks/webhooks.ts';
import { oneAtATime } from '../changes/one-at-a-time.ts';
import type { AddressSeal } from './address-seal.ts';
import { getWebhook, viewOfDelivery, viewOfWebhook, webhookNotFound } from './read-webhooks.ts';
import { sealedAddress, wholeAddress } from './webhook-address.ts';
import { newWebhookSecret, storeWebhookSecret, webhookSecretName } from './webhook-secret.ts';

/**
 * A secret is written while the name is locked, so that both are the same one's, and its store may need a connection to the database
 * of its own: many at once would take all of them and wait for each other.
 */
const inTurn = oneAtATime();

export interface WebhookDependencies {
  db: Db;
  secrets: Pick<SecretStore, 'putAll' | 'delete'>;
  addressSeal: AddressSeal;
  clock(): Date;
}

/**
 * Makes a webhook and answers it with its secret, the only time that it is shown.
 * @throws `webhook_exists`, `webhook_address_masked`
 */
export async function createWebhook(
  deps: WebhookDependencies,
  by: Acting,
  wanted: WebhookCreate,
): Promise<WebhookCreated> {
  const { name, url, events, enabled = true, allow_private_redirects = false } = wanted;
  givenWebhookAddress(url, null);
  const secret = wanted.secret ?? newWebhookSecret();
  const now = deps.clock();
  const make = async (trx: Db) => {
    await lockWebhookName(trx, name);
    if ((await findWebhook(trx, name)) !== null) throw webhookExists(name);
    // Before the record is there for others; one that is left over by a crash is replaced by the next create. And before the key is
    // held: the secret is written by another connection, which would wait behind a change of the key that waits for this one.
    await storeWebhookSecret(deps.secrets, name, secret, by.actor);
    await holdKey(trx);
    const row = await insertWebhook(trx, {
      name,
      ...(await sealedAddress(deps.addressSeal, name, url)),
      events,
      enabled,
      allow_private_redirects,
      created_at: now,
      updated_at: now,
      actor: by.actor,
    });
    if (row === null) throw webhookExists(name);
    return { ...viewOfWebhook(row), secret };
  };
  return inTurn(() => deps.db.transaction().execute(make));
}

function webhookExists(name: string) {
  return musterError('webhook_exists', `A webhook with the name ${name} already exists`);
}

/**
 * Changes the given members. An address that is sent back as it was shown changes nothing.
 * @throws `webhook_not_found`, `webhook_address_masked`
 */
export async function patchWebhook(
  deps: WebhookDependencies,
  by: Acting,
  name: string,
  patch: WebhookPatch,
): Promise<WebhookView> {
  const { secret, url, ...members } = patch;
  const given = url === undefined ? undefined : await newAddress(deps, name, url);
  const write = async (trx: Db) => {
    if (secret !== undefined) {
      await lockWebhookName(trx, name);
      if ((await findWebhook(trx, name)) === null) throw webhookNotFound(name);
      await storeWebhookSecret(deps.secrets, name, secret, by.actor);
    }
    if (given !== undefined) await holdKey(trx);
    const address = given === undefined ? undefined : await sealedAddress(deps.addressSeal, name, given);
    const change = { ...members, address, actor: by.actor, updated_at: deps.clock() };
    if (!(await updateWebhook(trx, name, change))) throw webhookNotFound(name);
  };
  const needsTransaction = secret !== undefined || given !== undefined;
  await (needsTransaction ? inTurn(() => deps.db.transaction().execute(write)) : write(deps.db));
  return getWebhook(deps, name);
}

/** The address that a request sets; undefined when it is the one that is stored. */
async function newAddress(deps: WebhookDependencies, name: string, url: string): Promise<string | undefined> {
  const row = await findWebhook(deps.db, name);
  if (row === null) throw webhookNotFound(name);
  const given = givenWebhookAddress(url, shownWebhookAddress(row.url));
  if (given === undefined) return undefined;
  // An address that is not known, or cannot be opened, is replaced.
  const stored = await wholeAddress(deps, row).catch(() => null);
  return stored === given ? undefined : given;
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
export async function testWebhook(deps: WebhookDependencies, by: Acting, name: string): Promise<DeliveryView> {
  const notification = await insertNotification(deps.db, name, PING, { actor: by.actor });
  if (notification === null) throw webhookNotFound(name);
  return viewOfDelivery(notification);
}
