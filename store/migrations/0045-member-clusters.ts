import { type Kysely, sql } from 'kysely';
import { type AuditedTable, auditTriggers, boundedAuditFunctions } from './audited-table.ts';

export const AUDITED_CLUSTERS: readonly AuditedTable[] = [
  { table: 'cluster_providers', kind: 'cluster-provider', columns: ['metadata'] },
  {
    table: 'member_clusters',
    kind: 'cluster',
    key: ['provider', 'name'],
    name: (row) => `${row}.provider || '+' || ${row}.name`,
    columns: ['metadata', 'server', 'credential_revision', 'credential_ends'],
  },
  {
    table: 'member_cluster_labels',
    kind: 'cluster-label',
    key: ['provider', 'cluster', 'label'],
    name: (row) => `${row}.provider || '+' || ${row}.cluster || ' ' || ${row}.label`,
    // A label is set and removed, and never changed.
    events: ['insert', 'delete'],
  },
];

/** Member clusters: their providers, sealed credentials and labels, and what the last probe of each said. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create table cluster_providers (
      name text collate "C" primary key,
      metadata jsonb not null,
      operation text,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      actor text
    )`,
    `create table member_clusters (
      provider text collate "C" not null references cluster_providers (name),
      name text collate "C" not null,
      metadata jsonb not null,
      server text not null,
      kubeconfig bytea not null,
      credential_revision bigint not null default 1,
      credential_ends timestamptz,
      operation text,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      actor text,
      primary key (provider, name)
    )`,
    `create table member_cluster_labels (
      provider text collate "C" not null,
      cluster text collate "C" not null,
      label text collate "C" not null,
      operation text,
      created_at timestamptz not null,
      actor text,
      primary key (provider, cluster, label),
      foreign key (provider, cluster) references member_clusters (provider, name)
    )`,
    'create index member_cluster_labels_label on member_cluster_labels (provider, label)',
    `create table member_cluster_probes (
      provider text collate "C" not null,
      name text collate "C" not null,
      due_at timestamptz not null,
      is_answering boolean not null default false,
      last_seen timestamptz,
      version text,
      reason text,
      message text,
      primary key (provider, name),
      foreign key (provider, name) references member_clusters (provider, name) on delete cascade
    )`,
    'create index member_cluster_probes_due on member_cluster_probes (due_at)',
    ...AUDITED_CLUSTERS.flatMap((table) => [...auditTriggers(table), ...boundedAuditFunctions(table)]),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
