/** Texts that differ whenever deployments or clusters have changed: for readers who then read again. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import { LAST_DELETION, newestRows } from '../connection/newest-rows.ts';

/** How clusters answer. When one was last seen counts once a minute. */
const connectivity = (now: Date, staleAfterMs: number): RawBuilder<string> =>
  sql<string>`md5(string_agg(concat_ws('/', p.provider, p.name, p.is_answering, p.reason, p.message, p.version,
    date_trunc('minute', p.last_seen), p.last_seen > ${now}::timestamptz - make_interval(secs => ${staleAfterMs / 1000})), ','
    order by p.provider, p.name))`;

/** Returns the revision of projects with what is below them, of how each deployment stands, and of clusters. */
export async function readDeploymentsRevision(db: Db, now: Date, staleAfterMs: number): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ', ${LAST_DELETION}, (select count(*) from placement_records),
      ${newestRows(sql`placement_records order by updated_at desc`)},
      (select concat(count(*), '/', max(time)) from deployment_actions),
      (select concat(count(*), '/', max(changed_at)) from deployment_contexts),
      (select concat(count(*), '/', sum(next_event)) from context_streams),
      (select count(*) from member_clusters), ${newestRows(sql`member_clusters order by updated_at desc`)},
      (select count(*) from member_cluster_labels), (select max(created_at) from member_cluster_labels),
      (select ${connectivity(now, staleAfterMs)} from member_cluster_probes p)) as revision`.execute(db);
  return rows[0]?.revision ?? '';
}

/**
 * Returns the revision of one deployment: its record, its history, what of it is to be where, what was seen there, and how its clusters answer.
 * @param owner path of the deployment
 */
export async function readDeploymentRevision(db: Db, owner: string, now: Date, staleAfterMs: number): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    with mine as materialized (select id, xmin::text as writer from deployment_contexts where owner = ${owner}),
    places as (select distinct g.provider, g.cluster from context_groups g join mine on mine.id = g.context)
    select concat_ws(' ', (select xmin::text from placement_records where path = ${owner}),
      ${newestRows(sql`deployment_actions where owner = ${owner} order by number desc`)},
      (select md5(string_agg(concat_ws('/', mine.id, mine.writer, s.next_event), ',' order by mine.id))
        from mine left join context_streams s on s.context = mine.id),
      (select concat(count(*), '/', max(o.seen_at)) from cluster_objects o join mine on mine.id = o.context),
      (select md5(string_agg(concat_ws('/', k.provider, k.cluster, k.api_group, k.kind, k.failing_since, k.reason), ','
        order by k.provider, k.cluster, k.api_group, k.kind))
        from cluster_watch_kinds k join places using (provider, cluster) where k.failing_since is not null),
      (select ${connectivity(now, staleAfterMs)} from member_cluster_probes p
        join places on places.provider = p.provider and places.cluster = p.name)) as revision`.execute(db);
  return rows[0]?.revision ?? '';
}
