/** Webhooks and their notifications. What makes notifications is in migration 0016. */
import { type Insertable, type Selectable, sql } from 'kysely';
import type { DeliveryState, WebhookEvent } from '../../domain/webhooks/webhook-schema.ts';
import type { Db } from '../connection/database.ts';
import { countOne } from '../connection/tallies.ts';
import type { NotificationsTable, WebhooksTable } from './tables.ts';

export type WebhookRow = Selectable<WebhooksTable> & {
  /** Notifications that are not delivered yet. */
  waiting: number;
};
/** Where migration 0016 announces notifications. */
export const NOTIFICATION_CHANNEL = 'muster_webhooks';

export type NotificationRow = Selectable<NotificationsTable>;

const waiting = sql<number>`(select count(*) from notifications
  where notifications.webhook = webhooks.name and notifications.state = 'waiting')`.as('waiting');

/**
 * Until the transaction ends, nobody else makes or removes the webhook of this name, or writes its secret. The record itself stays
 * free: whatever ends a session meanwhile refers to it.
 */
export async function lockWebhookName(trx: Db, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext(${`webhook/${name}`}))`.execute(trx);
}

/** Inserts a webhook; null when one of that name is there. */
export async function insertWebhook(db: Db, webhook: Insertable<WebhooksTable>): Promise<WebhookRow | null> {
  const row = await db
    .insertInto('webhooks')
    .values(webhook)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? null : { ...row, waiting: 0 };
}

export async function findWebhook(db: Db, name: string): Promise<WebhookRow | null> {
  const row = await db.selectFrom('webhooks').selectAll().select(waiting).where('name', '=', name).executeTakeFirst();
  return row ?? null;
}

/** At most `limit` webhooks after a name, by code point. */
export async function listWebhooks(db: Db, after: string, limit: number): Promise<WebhookRow[]> {
  return db
    .selectFrom('webhooks')
    .selectAll()
    .select(waiting)
    .where('name', '>', after)
    .orderBy('name')
    .limit(limit)
    .execute();
}

export interface WebhookChange {
  /** What is shown of another address, and that sealed. */
  address?: { url: string; sealed_url: Buffer } | undefined;
  events?: WebhookEvent[] | undefined;
  enabled?: boolean | undefined;
  allow_private_redirects?: boolean | undefined;
  actor: string | null;
  updated_at: Date;
}

/** Changes a webhook; answers whether it is there. */
export async function updateWebhook(db: Db, name: string, { address, ...change }: WebhookChange): Promise<boolean> {
  const result = await db
    .updateTable('webhooks')
    .set((eb) => ({ ...change, ...(address && { ...address, url_revision: eb('url_revision', '+', 1) }) }))
    .where('name', '=', name)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Removes a webhook with its notifications; answers whether it was there. */
export async function deleteWebhook(db: Db, name: string): Promise<boolean> {
  const result = await db.deleteFrom('webhooks').where('name', '=', name).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** Makes a notification for one webhook, whatever events it is for; null when there is no such webhook. */
export async function insertNotification(
  db: Db,
  webhook: string,
  event: string,
  data: Record<string, unknown>,
): Promise<NotificationRow | null> {
  const row = await db
    .insertInto('notifications')
    .columns(['webhook', 'event', 'data'])
    // Locked, so that it is not removed meanwhile, which would be an error of the reference.
    .expression((eb) =>
      eb
        .selectFrom('webhooks')
        .select(['name', sql<string>`${event}::text`.as('event'), sql`${JSON.stringify(data)}::jsonb`.as('data')])
        .where('name', '=', webhook)
        .forKeyShare(),
    )
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return null;
  await sql`select pg_notify(${NOTIFICATION_CHANNEL}, '')`.execute(db);
  return row;
}

/** Names of enabled webhooks with notifications that are due. */
export async function findDueWebhooks(db: Db, now: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('webhooks')
    .select('name')
    .where('enabled', '=', true)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('notifications')
          .select('id')
          .whereRef('notifications.webhook', '=', 'webhooks.name')
          .where('state', '=', 'waiting')
          .where('next_try_at', '<=', now),
      ),
    )
    .orderBy('name')
    .execute();
  return rows.map(({ name }) => name);
}

/** At most `limit` notifications of a webhook that are due, oldest first. */
export async function findDueNotifications(
  db: Db,
  webhook: string,
  now: Date,
  limit: number,
): Promise<NotificationRow[]> {
  return db
    .selectFrom('notifications')
    .selectAll()
    .where('webhook', '=', webhook)
    .where('state', '=', 'waiting')
    .where('next_try_at', '<=', now)
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** When the next notification of a webhook is due; null when none waits. */
export async function findNextTry(db: Db, webhook: string): Promise<Date | null> {
  const row = await db
    .selectFrom('notifications')
    .select((eb) => eb.fn.min('next_try_at').as('next'))
    .where('webhook', '=', webhook)
    .where('state', '=', 'waiting')
    .executeTakeFirst();
  return row?.next ?? null;
}

export interface Delivery {
  state: DeliveryState;
  now: Date;
  /** For one that waits on. */
  nextTryAt?: Date;
  status: number | null;
  error: string | null;
}

/** Notes what became of one try; a late one changes nothing once another has delivered it, or was the last. */
export async function noteDelivery(db: Db, id: string, delivery: Delivery): Promise<void> {
  const { state, now, nextTryAt, status, error } = delivery;
  const noted = await db
    .updateTable('notifications')
    .set((eb) => ({
      state,
      attempts: eb('attempts', '+', 1),
      last_status: status,
      last_error: error,
      ...(state === 'delivered' ? { delivered_at: now } : {}),
      ...(nextTryAt === undefined ? {} : { next_try_at: nextTryAt }),
    }))
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .returning('id')
    .executeTakeFirst();
  if (noted !== undefined && state !== 'waiting') await countOne(db, 'webhook_notifications_ended', state);
}

/** At most `limit` notifications of a webhook, newest first, after the one of an id. */
export async function listNotifications(
  db: Db,
  webhook: string,
  { state, afterId, limit }: { state: DeliveryState | undefined; afterId: string; limit: number },
): Promise<NotificationRow[]> {
  const after =
    afterId === ''
      ? undefined
      : sql<boolean>`(created_at, id) < (select created_at, id from notifications where id::text = ${afterId})`;
  return db
    .selectFrom('notifications')
    .selectAll()
    .where('webhook', '=', webhook)
    .$if(state !== undefined, (query) => query.where('state', '=', state as DeliveryState))
    .$if(after !== undefined, (query) => query.where(after ?? sql<boolean>`true`))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Removes notifications made before a time, at most `limit`. */
export async function forgetNotifications(db: Db, before: Date, limit: number): Promise<number> {
  const result = await sql`
    delete from notifications where id in (
      select id from notifications where created_at < ${before} order by created_at limit ${limit})
  `.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}
