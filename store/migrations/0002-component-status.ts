import { type Kysely, sql } from 'kysely';

/**
 * `components.standing` stands for all that a component's own record says about its status beside its error count: the
 * desired configuration, whether it has any state, and the layers that it reached. Components of equal standing differ in
 * nothing else, so a filter by status judges each standing once (see `store/components/component-status.ts`). A function of the row
 * alone: it cannot be out of date. Digests are 128 bits of SHA-256.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create function text_digest(value text) returns uuid language sql immutable strict parallel safe
      return encode(substring(sha256(convert_to(value, 'UTF8')) for 16), 'hex')::uuid`,
    // Not strict, so that Postgres puts it in place instead of calling it.
    `create function layer_key(clone_url text, playbook text, commit text) returns uuid
      language sql immutable parallel safe
      return text_digest(jsonb_build_array(clone_url, playbook, commit)::text)`,
    // The first entry of a layer decides (cfs-api 7).
    `create function reached_layers(state jsonb) returns uuid[] language sql immutable strict parallel safe
      return array(
        select key from (
          select distinct on (key) key, status from (
            select layer_key(entry ->> 'clone_url', entry ->> 'playbook', entry ->> 'commit') as key,
              entry ->> 'status' as status, place
            from jsonb_array_elements(state) with ordinality as listed(entry, place)
          ) as entries order by key, place
        ) as first_entries where coalesce(status, '') not in ('failed', 'incomplete') order by key
      )`,
    `create function component_standing(desired_config text, state jsonb) returns uuid
      language sql immutable strict parallel safe
      return text_digest(jsonb_build_array(desired_config, state = '[]', reached_layers(state))::text)`,
    `alter table components add column standing uuid not null
      generated always as (component_standing(desired_config, state)) stored`,
    `alter table components add column reached uuid[] not null generated always as (reached_layers(state)) stored`,
    // Covers what a status needs, so that a rare one among very many is found without reading their records.
    'create index components_standing on components (standing, id) include (error_count, retry_policy, enabled)',
    // The same in the order of ids, for fleets of very many standings.
    'create index components_in_order on components (id) include (standing, error_count, retry_policy, enabled)',
    // The index is read without the table only where the table was vacuumed.
    `alter table components set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
      autovacuum_analyze_scale_factor = 0.02)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
