import { type Kysely, sql } from 'kysely';

/**
 * What is there in member clusters: which worker watches a cluster, how the watch of each kind stands, and the last known state of each object
 * with our label. When a group was first applied, so that a list from before does not count.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create table cluster_watches (
      provider text collate "C" not null,
      cluster text collate "C" not null,
      number bigint not null,
      until timestamptz not null,
      primary key (provider, cluster),
      foreign key (provider, cluster) references member_clusters (provider, name) on delete cascade
    )`,
    `create table cluster_watch_kinds (
      provider text collate "C" not null,
      cluster text collate "C" not null,
      api_group text collate "C" not null,
      kind text collate "C" not null,
      version text not null,
      list_number bigint not null default 1,
      is_supported boolean not null default true,
      listed_at timestamptz,
      failing_since timestamptz,
      reason text,
      message text,
      primary key (provider, cluster, api_group, kind),
      foreign key (provider, cluster) references cluster_watches (provider, cluster) on delete cascade
    )`,
    `create table cluster_objects (
      provider text collate "C" not null,
      cluster text collate "C" not null,
      api_group text collate "C" not null,
      kind text collate "C" not null,
      namespace text collate "C" not null,
      name text collate "C" not null,
      version text not null,
      uid text not null,
      context text collate "C" not null,
      app text collate "C" not null,
      list_number bigint not null,
      object text not null,
      seen_at timestamptz not null,
      primary key (provider, cluster, api_group, kind, namespace, name),
      foreign key (provider, cluster, api_group, kind)
        references cluster_watch_kinds (provider, cluster, api_group, kind) on delete cascade
    )`,
    'create index cluster_objects_context on cluster_objects (context, provider, cluster)',
    'alter table context_groups add column applied_at timestamptz',
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
