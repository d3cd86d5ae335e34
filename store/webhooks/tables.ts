/** The tables of lane webhooks, as Kysely sees them. */
import type { ColumnType, Generated } from 'kysely';
import type { DeliveryState, WebhookEvent } from '../../domain/webhooks/webhook-schema.ts';
import type { Json, OptionalTime, Time } from '../connection/column-types.ts';

export interface WebhooksTable {
  name: string;
  /** What is shown of the address; the whole one where an older release has written it. */
  url: string;
  /** The whole address, encrypted (see webhook-addresses.ts). */
  sealed_url: ColumnType<Buffer | null, Buffer | null | undefined, Buffer>;
  /** Counted up when somebody sets the address. */
  url_revision: Generated<number>;
  events: WebhookEvent[];
  enabled: boolean;
  allow_private_redirects: boolean;
  created_at: Time;
  updated_at: Time;
  actor: string | null;
}

export interface NotificationsTable {
  id: Generated<string>;
  webhook: string;
  event: string;
  data: Json<Record<string, unknown>>;
  created_at: ColumnType<Date, Date | undefined, never>;
  state: ColumnType<DeliveryState, DeliveryState | undefined, DeliveryState>;
  attempts: Generated<number>;
  next_try_at: ColumnType<Date, Date | undefined, Date>;
  delivered_at: OptionalTime;
  last_status: number | null;
  last_error: string | null;
}

export interface WebhookTables {
  webhooks: WebhooksTable;
  notifications: NotificationsTable;
}
