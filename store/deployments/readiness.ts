/** What of an AppContext may not be ready: counted and chosen by the database, since there may be many live objects. */
import { sql } from 'kysely';
import type { Identity } from '../../domain/deployments/manifest-identity.ts';
import type { ClusterRef } from '../../domain/deployments/naming.ts';
import { RULED_KINDS, UNREADY_WORDS } from '../../domain/deployments/readiness.ts';
import type { Db } from '../connection/database.ts';

/** A kind that an app brings to a cluster. */
export interface GroupKind extends ClusterRef, Pick<Identity, 'group' | 'kind'> {
  app: string;
  is_answering: boolean | null;
  last_seen: Date | null;
  applied_at: Date | null;
  /** A resource of the kind was sent, or was about to be. */
  was_sent: boolean;
}

/** Returns the kinds of each app on each cluster of an AppContext, each once, with what is known of the cluster. */
export async function listGroupKinds(db: Db, context: string): Promise<GroupKind[]> {
  const { rows } = await sql<GroupKind>`select r.app, r.provider, r.cluster, m.api_group as group, m.kind,
      p.is_answering, p.last_seen, g.applied_at, bool_or(r.attempted) as was_sent
    from context_resources r
    join context_groups g
      on g.context = r.context and g.app = r.app and g.provider = r.provider and g.cluster = r.cluster
    join context_manifests m on m.context = r.context and m.app = r.app and m.key = r.key
    left join member_cluster_probes p on p.provider = r.provider and p.name = r.cluster
    where r.context = ${context}
    group by r.app, r.provider, r.cluster, m.api_group, m.kind, p.is_answering, p.last_seen, g.applied_at`.execute(db);
  return rows;
}

/** The live object that a manifest describes, with the label of its AppContext and app. */
const OWN = sql`o.provider = r.provider and o.cluster = r.cluster and o.api_group = m.api_group and o.kind = m.kind
  and o.namespace = coalesce(r.sent_namespace, m.namespace) and o.name = m.name and o.context = r.context and o.app = r.app`;

/** Whether a resource of an AppContext has no live object of its own: the second manifest of an object has none. */
export async function lacksObjects(db: Db, context: string): Promise<boolean> {
  const { rows } = await sql<{ lacks: boolean }>`select exists (
      select from context_resources r
      join context_manifests m on m.context = r.context and m.app = r.app and m.key = r.key
      where r.context = ${context} and not exists (select from cluster_objects o where ${OWN})
    ) or exists (select from context_resources r
      join context_manifests m on m.context = r.context and m.app = r.app and m.key = r.key
      where r.context = ${context}
      group by r.app, r.provider, r.cluster, m.api_group, m.kind, m.name, coalesce(r.sent_namespace, m.namespace)
      having count(*) > 1
    ) as lacks`.execute(db);
  return rows[0]?.lacks ?? false;
}

/** Returns the live objects of resources on clusters, without objects that are ready because they exist; `object` is JSON. */
export async function listDoubtful(
  db: Db,
  context: string,
  clusters: readonly ClusterRef[],
): Promise<{ group: string; kind: string; object: string }[]> {
  if (clusters.length === 0) return [];
  const places = clusters.map(({ provider, cluster }) => sql`(${provider}::text, ${cluster}::text)`);
  const words = UNREADY_WORDS.map((word) => `%"${word}"%`);
  const { rows } = await sql<{ group: string; kind: string; object: string }>`
    select o.api_group as group, o.kind, o.object
    from context_resources r
    join context_manifests m on m.context = r.context and m.app = r.app and m.key = r.key
    join cluster_objects o on ${OWN}
    where r.context = ${context} and (r.provider, r.cluster) in (${sql.join(places)})
      and (o.api_group || '/' || o.kind = any(${[...RULED_KINDS]}) or o.object like any(${words}))`.execute(db);
  return rows;
}
