import { type Kysely, sql } from 'kysely';

/**
 * Who owns a configuration and which sources it names become indexed; no two records ever have the same revision, also when
 * one is deleted and made again. A component that begins to desire a configuration
 * holds it until its transaction ends, as a foreign key would, so that a delete sees every desire that came before it (the
 * name need not exist, hence no foreign key). Secrets know who wrote them, and a change of a source's secret that is
 * under way is noted, so that one that was broken off can be settled.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    'create sequence configuration_revisions as bigint',
    `select setval('configuration_revisions', coalesce(max(revision), 0) + 1) from configurations`,
    `alter table configurations alter column revision set default nextval('configuration_revisions')`,
    `create index configurations_tenant on configurations ((record ->> 'tenant_name'), name)`,
    `alter table configurations add column source_names jsonb not null generated always as (
      jsonb_path_query_array(record, '$.layers[*].source')
        || jsonb_path_query_array(record, '$.additional_inventory.source')
    ) stored`,
    'create index configurations_source_names on configurations using gin (source_names)',
    `create index sources_secret_name on sources ((record #>> '{credentials,secret_name}'))`,
    `create function hold_desired_configuration() returns trigger language plpgsql as $$
    begin
      perform 1 from configurations where name = new.desired_config for key share;
      return null;
    end $$`,
    `create trigger components_begin_desire after insert on components
      for each row when (new.desired_config <> '') execute function hold_desired_configuration()`,
    `create trigger components_change_desire after update of desired_config on components
      for each row when (new.desired_config <> '' and new.desired_config is distinct from old.desired_config)
      execute function hold_desired_configuration()`,
    'alter table secrets add column actor text',
    `create table secret_changes (
      id uuid primary key,
      secret_name text collate "C" not null,
      begun_at timestamptz not null default now(),
      settling boolean not null default false
    )`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
