import { type Kysely, sql } from 'kysely';

/**
 * Keys of batches that a fault of the controller holds, what a batch was made of and how its session was judged, and how often somebody
 * has set a secret. Webhooks are told of each hold when it begins.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create table batch_holds (
      key text collate "C" primary key,
      configuration text collate "C" not null,
      length integer not null,
      start timestamptz not null,
      probe uuid,
      basis text not null,
      code text not null,
      reason text not null,
      session text not null,
      since timestamptz not null
    )`,
    'alter table batches add column basis text, add column verdict text, add column fault text',
    'alter table batcher_state add column secrets_revision bigint not null default 0',
    `create function batch_held_webhook() returns trigger language plpgsql as $$
      begin
        perform notify_webhooks('batch.held', jsonb_build_object('key', new.key, 'configuration', new.configuration,
          'code', new.code, 'reason', new.reason, 'session', new.session));
        return null;
      end $$`,
    `create trigger batch_held_webhook after insert on batch_holds for each row execute function batch_held_webhook()`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
