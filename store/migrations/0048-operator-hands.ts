import { type Kysely, sql } from 'kysely';

/**
 * What people ask of resources and reconciles, what an operator says of itself, the passwords of runs for its proxy, the kinds of dependents
 * that are watched, and the first failures of which webhooks are told.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    // `engine_reason`: why Temporal did not answer the last time; null: it did.
    'alter table operator_processes add column engine_reason text',
    'alter table operator_watches add column finalizer text',
    // `paused_told_at`: when an Event told of the pause. `drain`: `run` or `now`, how its finalizer is to go.
    `alter table operator_resources add column paused_at timestamptz, add column paused_until timestamptz, add column paused_by text,
      add column paused_told_at timestamptz, add column drain text`,
    'alter table operator_reconciles add column cancel_requested_at timestamptz, add column cancelled_by text',
    `create index operator_reconciles_cancelled on operator_reconciles (operator)
      where cancel_requested_at is not null and ended_at is null`,
    'create index operator_resources_listed on operator_resources (operator, api_group, version, kind, namespace, name, id)',
    // `owner`: the resource in whose name the run asks. `password_hash`: SHA-256 in hexadecimal digits.
    `create table operator_proxy_passwords (
      run_id text collate "C" primary key,
      operator text collate "C" not null references operators (name) on delete cascade,
      machine text not null,
      password_hash text not null,
      owner jsonb not null,
      entry jsonb not null,
      made_at timestamptz not null
    )`,
    'create index operator_proxy_passwords_machine on operator_proxy_passwords (operator, machine)',
    // A kind of dependents belongs to an entry, and each mark is a watch of its own.
    `create table operator_dependents (
      operator text collate "C" not null references operators (name) on delete cascade,
      owner_group text collate "C" not null,
      owner_version text collate "C" not null,
      owner_kind text collate "C" not null,
      api_group text collate "C" not null,
      version text collate "C" not null,
      kind text collate "C" not null,
      resource text not null,
      namespaced boolean not null,
      mark text not null,
      reason text,
      noted_at timestamptz not null,
      primary key (operator, owner_group, owner_version, owner_kind, api_group, version, kind, mark)
    )`,
    `create table operator_failures (
      reconcile_id uuid primary key references operator_reconciles (id) on delete cascade,
      operator text collate "C" not null references operators (name) on delete cascade,
      failed_at timestamptz not null
    )`,
    // An operator's own login may not read webhooks.
    `create function operator_failed_webhook() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
      begin
        perform notify_webhooks('operator.failed', jsonb_build_object('operator', c.operator, 'group', r.api_group, 'version', r.version,
          'kind', r.kind, 'namespace', r.namespace, 'name', r.name, 'uid', r.uid, 'resource', r.id, 'reconcile', c.id,
          'messages', coalesce(c.messages, '[]'), 'time', wire_time(new.failed_at)))
        from operator_reconciles c join operator_resources r on r.id = c.resource_id where c.id = new.reconcile_id and c.operator = new.operator;
        return null;
      end $$`,
    `create trigger operator_failed_webhook after insert on operator_failures
      for each row execute function operator_failed_webhook()`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
