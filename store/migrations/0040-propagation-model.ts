import { type Kysely, sql } from 'kysely';
import { type AuditedTable, auditTriggers, boundedAuditFunctions } from './audited-table.ts';

export const AUDITED_PROPAGATION: readonly AuditedTable[] = [
  {
    table: 'propagation_repositories',
    kind: 'repository',
    columns: [
      'kind',
      { column: 'url', show: (reference) => `audit_masked(to_jsonb(${reference}))` },
      'ref',
      'path',
      'source',
    ],
  },
  {
    table: 'propagation_definitions',
    kind: 'definition',
    key: ['repository', 'name', 'version'],
    columns: ['hash'],
  },
  {
    table: 'propagation_resources',
    kind: 'resource',
    columns: ['repository', 'definition', 'version', 'inputs', 'tags', 'state'],
    // What staging and commits do to its state follows from what users did.
    updated: (old, row) =>
      `${row}.inputs is distinct from ${old}.inputs or ${row}.tags is distinct from ${old}.tags
        or (${row}.state = 'removed') <> (${old}.state = 'removed')`,
  },
  {
    table: 'propagation_connections',
    kind: 'connection',
    key: ['id'],
    name: (row) =>
      `${row}.emitter || '::' || ${row}.emitter_input || ' -> ' || ${row}.receiver || '::' || ${row}.receiver_input
        || case when ${row}.receiver_key = '' then '' else ':' || ${row}.receiver_key end`,
    // A connection is made and removed, and never changed.
    events: ['insert', 'delete'],
  },
  {
    table: 'propagation_events',
    kind: 'event',
    key: ['id'],
    name: (row) =>
      `${row}.parent || '.' || ${row}.parent_action || ' ' || ${row}.on_outcome || ' ' || ${row}.child || '.' || ${row}.child_action`,
    columns: ['type', 'source'],
    events: ['insert', 'delete'],
  },
  {
    table: 'propagation_staged_items',
    kind: 'change',
    key: ['uid'],
    name: (row) => `${row}.resource || '.' || ${row}.action`,
    creation: 'stage',
    // What an edit stages by itself is in the record of the edit.
    created: (row) => `${row}.explicit`,
    // A commit removes an item too, and is no change of a user.
    updated: (old, row) => `${row}.discarded and not ${old}.discarded`,
    action: () => `'discard'`,
    columns: ['discarded'],
    events: ['insert', 'update'],
  },
];

/**
 * The model of propagation: definitions in repositories, resources made from them, the connections between their inputs, their events,
 * what is staged, what was committed.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create table propagation_repositories (
      name text collate "C" primary key,
      kind text not null,
      url text,
      ref text,
      path text,
      source text,
      commit_id text,
      state text not null,
      reason text,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      actor text
    )`,
    `create table propagation_contents (
      hash text collate "C" primary key,
      content bytea not null
    )`,
    `create table propagation_definitions (
      repository text collate "C" not null references propagation_repositories (name) on delete cascade,
      name text collate "C" not null,
      version text collate "C" not null,
      hash text collate "C" not null,
      definition jsonb not null,
      files jsonb not null,
      created_at timestamptz not null,
      actor text,
      primary key (repository, name, version)
    )`,
    'create sequence propagation_marker',
    `create table propagation_resources (
      name text collate "C" primary key,
      repository text collate "C" not null,
      definition text collate "C" not null,
      version text collate "C" not null,
      hash text collate "C" not null,
      handler text not null,
      actions jsonb not null,
      meta_inputs jsonb not null,
      type_limit integer,
      inputs jsonb not null,
      tags text[] collate "C" not null,
      state text not null,
      state_before text,
      marker bigint not null default nextval('propagation_marker'),
      created_at timestamptz not null,
      updated_at timestamptz not null,
      actor text
    )`,
    'create index propagation_resources_tags on propagation_resources using gin (tags)',
    'create index propagation_resources_definition on propagation_resources (repository, definition, version)',
    // `place`: the order in which connections were made. A key is empty for the whole input.
    `create table propagation_connections (
      id uuid primary key,
      place bigint generated always as identity,
      emitter text collate "C" not null references propagation_resources (name),
      emitter_input text collate "C" not null,
      receiver text collate "C" not null references propagation_resources (name),
      receiver_input text collate "C" not null,
      receiver_key text collate "C" not null default '',
      policy text not null,
      created_at timestamptz not null,
      actor text
    )`,
    `create unique index propagation_connections_edge
      on propagation_connections (receiver, receiver_input, receiver_key, emitter, emitter_input)`,
    'create index propagation_connections_emitter on propagation_connections (emitter, emitter_input)',
    `create table propagation_events (
      id text collate "C" primary key,
      type text not null,
      parent text collate "C" not null,
      parent_action text collate "C" not null,
      on_outcome text not null,
      child text collate "C" not null,
      child_action text collate "C" not null,
      source text not null,
      connection uuid,
      created_at timestamptz not null,
      actor text
    )`,
    'create index propagation_events_parent on propagation_events (parent, parent_action)',
    'create index propagation_events_child on propagation_events (child, child_action)',
    'create index propagation_events_connection on propagation_events (connection) where connection is not null',
    `create table propagation_staged_items (
      uid uuid primary key,
      place bigint generated always as identity,
      resource text collate "C" not null,
      action text collate "C" not null,
      explicit boolean not null,
      state text not null,
      diff jsonb not null,
      connections_diff jsonb not null,
      base_path text not null,
      tags text[] collate "C" not null,
      plan uuid,
      discarded boolean not null default false,
      staged_at timestamptz not null,
      actor text
    )`,
    'create unique index propagation_staged_items_action on propagation_staged_items (resource, action)',
    'create index propagation_staged_items_plan on propagation_staged_items (plan) where plan is not null',
    `create table propagation_committed (
      resource text collate "C" primary key,
      inputs jsonb not null,
      connections jsonb not null,
      tags text[] collate "C" not null,
      base_path text not null,
      state text not null,
      updated_at timestamptz not null
    )`,
    `create table propagation_history (
      uid uuid primary key,
      place bigint generated always as identity,
      resource text collate "C" not null,
      action text collate "C" not null,
      diff jsonb not null,
      connections_diff jsonb not null,
      base_path text not null,
      tags text[] collate "C" not null,
      plan uuid,
      committed_at timestamptz not null
    )`,
    'create unique index propagation_history_place on propagation_history (place)',
    ...AUDITED_PROPAGATION.flatMap((table) => [...auditTriggers(table), ...boundedAuditFunctions(table)]),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
