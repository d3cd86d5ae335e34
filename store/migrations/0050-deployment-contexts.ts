import { type Kysely, sql } from 'kysely';
import { type AuditedTable, auditTriggers, reasonedAuditFunctions } from './audited-table.ts';

export const AUDITED_PLACEMENT: readonly AuditedTable[] = [
  { table: 'placement_records', kind: 'placement', key: ['path'], columns: ['kind', 'metadata', 'spec'] },
  {
    table: 'deployment_actions',
    kind: 'deployment',
    key: ['owner', 'number'],
    name: (row) => `${row}.owner`,
    columns: ['state', 'instance'],
    // A history only grows. It goes with its record, which has an entry of its own.
    events: ['insert'],
  },
];

/**
 * Applications on member clusters: records by their path, files of apps with the manifests in them, histories of states, and AppContexts with a
 * row for each app, cluster and resource.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create table placement_records (
      path text collate "C" primary key,
      kind text not null,
      parent text collate "C" references placement_records (path),
      position bigint generated always as identity,
      metadata jsonb not null,
      spec jsonb not null,
      operation text,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      actor text
    )`,
    'create index placement_records_parent on placement_records (parent, kind, position)',
    'create index placement_records_kind on placement_records (kind, path)',
    `create table placement_files (
      path text collate "C" primary key references placement_records (path) on delete cascade,
      content bytea not null
    )`,
    `create table app_manifests (
      app text collate "C" not null references placement_records (path) on delete cascade,
      number integer not null,
      key text collate "C" not null,
      api_group text not null,
      version text not null,
      kind text not null,
      namespace text not null,
      name text not null,
      manifest text not null,
      seal_id uuid,
      sealed bytea,
      primary key (app, number)
    )`,
    `create table deployment_contexts (
      id text collate "C" primary key,
      owner text collate "C" not null references placement_records (path) on delete cascade,
      cloud text collate "C" not null,
      state text not null,
      wanted text,
      is_stopped boolean not null default false,
      namespace text not null,
      settings jsonb not null,
      created_at timestamptz not null,
      wanted_at timestamptz not null,
      changed_at timestamptz not null,
      actor text
    )`,
    'create index deployment_contexts_owner on deployment_contexts (owner)',
    `create index deployment_contexts_cloud on deployment_contexts (cloud) where state not in ('Terminated', 'TerminateFailed')`,
    'create index deployment_contexts_wanted on deployment_contexts (wanted_at) where wanted is not null',
    `create table deployment_actions (
      owner text collate "C" not null references placement_records (path) on delete cascade,
      number integer not null,
      state text not null,
      instance text not null,
      revision integer not null,
      time timestamptz not null,
      actor text,
      primary key (owner, number)
    )`,
    `create table context_manifests (
      context text collate "C" not null references deployment_contexts (id) on delete cascade,
      app text collate "C" not null,
      number integer not null,
      key text collate "C" not null,
      api_group text not null,
      version text not null,
      kind text not null,
      namespace text not null,
      name text not null,
      manifest text not null,
      seal_id uuid,
      sealed bytea,
      primary key (context, app, key)
    )`,
    `create table context_groups (
      context text collate "C" not null references deployment_contexts (id) on delete cascade,
      app text collate "C" not null,
      position integer not null,
      provider text collate "C" not null,
      cluster text collate "C" not null,
      primary key (context, app, provider, cluster)
    )`,
    'create index context_groups_cluster on context_groups (provider, cluster)',
    `create table context_resources (
      context text collate "C" not null,
      app text collate "C" not null,
      provider text collate "C" not null,
      cluster text collate "C" not null,
      key text collate "C" not null,
      number integer not null,
      status text not null,
      attempted boolean not null default false,
      finding text,
      former_owner text,
      releasing boolean not null default false,
      uid text,
      resource_version text,
      waits_since timestamptz,
      reason text,
      message text,
      attempts integer not null default 0,
      changed_at timestamptz not null,
      primary key (context, app, provider, cluster, key),
      foreign key (context, app, provider, cluster) references context_groups (context, app, provider, cluster) on delete cascade
    )`,
    `create table context_waits (
      context text collate "C" not null,
      app text collate "C" not null,
      provider text collate "C" not null,
      cluster text collate "C" not null,
      phase text not null,
      since timestamptz not null,
      not_before timestamptz not null,
      retry_ms bigint not null,
      primary key (context, app, provider, cluster),
      foreign key (context, app, provider, cluster) references context_groups (context, app, provider, cluster) on delete cascade
    )`,
    'create index context_waits_cluster on context_waits (provider, cluster)',
    'alter table member_cluster_probes add column probed_at timestamptz',
    ...AUDITED_PLACEMENT.flatMap((audited) => [...auditTriggers(audited), ...reasonedAuditFunctions(audited)]),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
