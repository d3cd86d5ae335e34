/** What others are told of deployments and clusters: webhooks, in the transaction of what happened. */
import { sql } from 'kysely';
import type { ContextState } from '../../domain/deployments/context-state.ts';
import type { ClusterRef } from '../../domain/deployments/naming.ts';
import type { Db } from '../connection/database.ts';

/** Resources that a notice names. */
const NAMED = 100;

/** Tells that a phase of a deployment has ended: how, with the counts of its resources and the first that did not do well. */
export async function noticeEnd(trx: Db, name: string, instance: string, state: ContextState): Promise<void> {
  await sql`select notify_webhooks('deployment.ended', jsonb_build_object(
      'name', ${name}::text, 'instance', ${instance}::text, 'state', ${state}::text,
      'counts', (select coalesce(jsonb_object_agg(c.status, c.number), '{}') from (
        select status, count(*) as number from context_resources where context = ${instance} group by status) c),
      'failed', (select coalesce(jsonb_agg(f.shown), '[]') from (
        select jsonb_build_object('app', app, 'cluster', provider || '+' || cluster, 'resource', key,
          'reason', reason, 'message', message) as shown
        from context_resources where context = ${instance} and status = 'Failed'
        order by app, provider, cluster, number limit ${NAMED}) f)))`.execute(trx);
}

/** Tells once that a cluster that was there has not answered since a time, and once that it is back. */
export async function noticeReach(
  db: Db,
  { provider, cluster }: ClusterRef,
  isAnswering: boolean,
  since: Date,
): Promise<void> {
  const changed = isAnswering
    ? sql`away_told and is_answering`
    : sql`not away_told and not is_answering and last_seen <= ${since}`;
  const event = isAnswering ? 'cluster.back' : 'cluster.unreachable';
  await sql`with told as (
      update member_cluster_probes set away_told = ${!isAnswering}
      where provider = ${provider} and name = ${cluster} and ${changed}
      returning provider, name, last_seen, reason, message
    )
    select notify_webhooks(${event}, jsonb_build_object('cluster', provider || '+' || name,
      'last_seen', last_seen, 'reason', reason, 'message', message)) from told`.execute(db);
}

/** Tells once of each credential that ends before a time. */
export async function noticeCredentialEnds(db: Db, before: Date): Promise<void> {
  await sql`with told as (
      update member_cluster_probes p set end_told = c.credential_revision
      from member_clusters c
      where c.provider = p.provider and c.name = p.name and c.credential_ends <= ${before}
        and p.end_told is distinct from c.credential_revision
      returning c.provider, c.name, c.credential_ends
    )
    select notify_webhooks('cluster.credential_ends', jsonb_build_object('cluster', provider || '+' || name,
      'credential_ends', credential_ends)) from told`.execute(db);
}
