import { type Kysely, sql } from 'kysely';
import { type AuditedTable, auditTriggers } from './audited-table.ts';

export const AUDITED_WEBHOOKS: AuditedTable = {
  table: 'webhooks',
  kind: 'webhook',
  columns: [
    { column: 'url', show: (reference) => `audit_masked(to_jsonb(${reference}))` },
    'events',
    'enabled',
    'allow_private_redirects',
  ],
};

/**
 * Webhooks and what they are to be told. A notification is made by the database in the transaction of what happened, so
 * none is forgotten and none tells of what was rolled back.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create table webhooks (
      name text collate "C" primary key,
      url text not null,
      events text[] not null,
      enabled boolean not null,
      allow_private_redirects boolean not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      actor text
    )`,
    // Times as Muster's processes see them, to the millisecond: what is due at one is not later than it.
    `create table notifications (
      id uuid primary key default gen_random_uuid(),
      webhook text collate "C" not null references webhooks (name) on delete cascade,
      event text not null,
      data jsonb not null,
      created_at timestamptz not null default date_trunc('milliseconds', now()),
      state text not null default 'waiting',
      attempts integer not null default 0,
      next_try_at timestamptz not null default date_trunc('milliseconds', now()),
      delivered_at timestamptz,
      last_status integer,
      last_error text
    )`,
    `create index notifications_due on notifications (webhook, next_try_at) where state = 'waiting'`,
    'create index notifications_listed on notifications (webhook, created_at desc, id desc)',
    'create index notifications_old on notifications (created_at)',
    `create function notify_webhooks(event text, data jsonb) returns void language plpgsql as $$
      begin
        insert into notifications (webhook, event, data)
          select webhooks.name, notify_webhooks.event, notify_webhooks.data from webhooks
          where enabled and notify_webhooks.event = any(events);
        if found then perform pg_notify('muster_webhooks', ''); end if;
      end $$`,
    // As all times are shown: UTC, whole seconds.
    `create function wire_time(value timestamptz) returns text language sql immutable
      return to_char(value at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`,
    `create function session_ended_webhook() returns trigger language plpgsql as $$
      begin
        perform notify_webhooks('session.ended', jsonb_build_object('name', new.name, 'id', new.id,
          'configuration', new.configuration_name, 'limit', new.ansible_limit, 'succeeded', new.succeeded,
          'message', new.message, 'reason', new.reason, 'start_time', wire_time(new.start_time),
          'completion_time', wire_time(new.completion_time), 'tags', new.tags, 'actor', new.actor));
        return null;
      end $$`,
    `create trigger session_ended_webhook after update of stage on sessions for each row
      when (new.stage = 'ended' and old.stage <> 'ended') execute function session_ended_webhook()`,
    // A component fails with the error that uses up its policy; 3 is option default_batcher_retry_policy unless it was set.
    `create function component_failed_webhook() returns trigger language plpgsql as $$
      declare policy bigint := coalesce(new.retry_policy,
        (select (record ->> 'default_batcher_retry_policy')::bigint from options), 3);
      begin
        if policy <> -1 and new.error_count >= policy and old.error_count < policy then
          perform notify_webhooks('component.failed', jsonb_build_object('id', new.id,
            'desired_config', new.desired_config, 'error_count', new.error_count, 'retry_policy', policy,
            'session', new.state -> -1 ->> 'session_name', 'playbook', new.state -> -1 ->> 'playbook'));
        end if;
        return null;
      end $$`,
    `create trigger component_failed_webhook after update of error_count on components for each row
      when (new.error_count > old.error_count) execute function component_failed_webhook()`,
    `create function rollout_stopped_webhook() returns trigger language plpgsql as $$
      begin
        perform notify_webhooks('rollout.stopped', jsonb_build_object('configuration', new.configuration,
          'version', new.version, 'reason', new.reason, 'components', new.components, 'failed', new.failed,
          'actor', new.stopped_by));
        return null;
      end $$`,
    `create trigger rollout_stopped_webhook after update of state on rollouts for each row
      when (new.state = 'stopped' and old.state <> 'stopped') execute function rollout_stopped_webhook()`,
    ...auditTriggers(AUDITED_WEBHOOKS),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
