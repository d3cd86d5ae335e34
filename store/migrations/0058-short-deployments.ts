import { type Kysely, sql } from 'kysely';
import { type AuditedTable, auditTriggers, reasonedAuditFunctions } from './audited-table.ts';

/** Who has asked for the removal of a deployment. The row goes with the deployment, which has entries of its own. */
export const AUDITED_REMOVALS: AuditedTable = {
  table: 'deployment_removals',
  kind: 'deployment',
  key: ['path'],
  creation: 'remove',
  events: ['insert'],
};

/**
 * Deployments that were made of one document, with what it said; deployments that are to be removed; and the events of AppContexts, which go with
 * them: AppContexts of a release before have none. Whether webhooks were told that a cluster is away, and of which credential's end.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create table short_deployments (
      path text collate "C" primary key references placement_records (path) on delete cascade,
      content bytea not null
    )`,
    `create table deployment_removals (
      path text collate "C" primary key references placement_records (path) on delete cascade,
      asked_at timestamptz not null,
      actor text
    )`,
    `create table context_streams (
      context text collate "C" primary key references deployment_contexts (id) on delete cascade,
      next_event bigint not null default 1
    )`,
    `create table context_events (
      context text collate "C" not null references context_streams (context) on delete cascade,
      number bigint not null,
      time timestamptz not null,
      type text not null,
      data jsonb not null,
      primary key (context, number)
    )`,
    'alter table member_cluster_probes add column away_told boolean not null default false, add column end_told integer',
    'insert into context_streams (context) select id from deployment_contexts',
    ...auditTriggers(AUDITED_REMOVALS),
    ...reasonedAuditFunctions(AUDITED_REMOVALS),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
