/** Rows of member clusters. */
import { sql } from 'kysely';
import type { ClusterRef } from '../../domain/deployments/naming.ts';
import type { Metadata } from '../../domain/deployments/schema.ts';
import type { Db } from '../connection/database.ts';
import type { Written } from './providers.ts';

export interface NewCluster extends ClusterRef {
  metadata: Metadata;
  server: string;
  /** Sealed. */
  kubeconfig: Buffer;
  endsAt: Date | null;
}

/** A cluster as it is listed: without its credential. */
export interface ClusterRow {
  provider: string;
  name: string;
  metadata: Metadata;
  server: string;
  credential_revision: number;
  credential_ends: Date | null;
  created_at: Date;
  updated_at: Date;
  actor: string | null;
  labels: string[];
  /** AppContexts there that have not ended. */
  deployments: string;
  is_answering: boolean;
  last_seen: Date | null;
  /** Time of the last probe; null: none yet. */
  probed_at: Date | null;
  version: string | null;
  reason: string | null;
  message: string | null;
}

/** Adds a cluster and has it probed at once. Returns false when the name is taken, unless the same operation has made it before. */
export async function insertCluster(
  trx: Db,
  cluster: NewCluster,
  { actor, operation, now }: Written,
): Promise<boolean> {
  const { provider, cluster: name, metadata, server, kubeconfig, endsAt } = cluster;
  const added = await trx
    .insertInto('member_clusters')
    .values({
      ...{ provider, name, metadata: JSON.stringify(metadata), server, kubeconfig, credential_ends: endsAt },
      ...{ operation, created_at: now, updated_at: now, actor },
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('name')
    .executeTakeFirst();
  if (added !== undefined) {
    await trx.insertInto('member_cluster_probes').values({ provider, name, due_at: now }).execute();
    return true;
  }
  if (operation === null) return false;
  const found = await only(trx, { provider, cluster: name }).select('operation').executeTakeFirst();
  return found?.operation === operation;
}

/** Replaces metadata and credential, and has the cluster probed at once. Returns false when it is not there. */
export async function replaceCluster(trx: Db, cluster: NewCluster, { actor, now }: Written): Promise<boolean> {
  const { provider, cluster: name, metadata, server, kubeconfig, endsAt } = cluster;
  const changed = await trx
    .updateTable('member_clusters')
    .set({
      ...{ metadata: JSON.stringify(metadata), server, kubeconfig, credential_ends: endsAt, updated_at: now, actor },
      credential_revision: sql<number>`credential_revision + 1`,
    })
    .where('provider', '=', provider)
    .where('name', '=', name)
    .returning('name')
    .executeTakeFirst();
  if (changed === undefined) return false;
  await trx
    .updateTable('member_cluster_probes')
    .set({ due_at: now })
    .where('provider', '=', provider)
    .where('name', '=', name)
    .execute();
  return true;
}

function only(db: Db, { provider, cluster }: ClusterRef) {
  return db.selectFrom('member_clusters').where('provider', '=', provider).where('name', '=', cluster);
}

/** Holds a cluster until the transaction ends. Returns false when it is not there. */
export async function holdCluster(trx: Db, ref: ClusterRef, how: 'share' | 'update'): Promise<boolean> {
  const query = only(trx, ref).select('name');
  return (await (how === 'share' ? query.forShare() : query.forUpdate()).executeTakeFirst()) !== undefined;
}

export async function deleteCluster(trx: Db, { provider, cluster }: ClusterRef): Promise<void> {
  await trx.deleteFrom('member_clusters').where('provider', '=', provider).where('name', '=', cluster).execute();
}

/** Returns the sealed kubeconfig and its metadata; null when the cluster is not there. */
export async function findKubeconfig(
  db: Db,
  ref: ClusterRef,
): Promise<{ kubeconfig: Buffer; metadata: Metadata } | null> {
  return (await only(db, ref).select(['kubeconfig', 'metadata']).executeTakeFirst()) ?? null;
}

/** Returns the sealed kubeconfig and its revision, which differs from that of every other credential of the cluster; null without the cluster. */
export async function findSealedCredential(
  db: Db,
  ref: ClusterRef,
): Promise<{ kubeconfig: Buffer; revision: number } | null> {
  const row = await only(db, ref).select(['kubeconfig', 'credential_revision']).executeTakeFirst();
  return row === undefined ? null : { kubeconfig: row.kubeconfig, revision: Number(row.credential_revision) };
}

export async function findCluster(db: Db, ref: ClusterRef): Promise<ClusterRow | null> {
  const row = await rows(db)
    .where('c.provider', '=', ref.provider)
    .where('c.name', '=', ref.cluster)
    .executeTakeFirst();
  return row ?? null;
}

/** Returns the clusters of a provider by name. */
export async function listClustersOf(db: Db, provider: string): Promise<Metadata[]> {
  const query = db.selectFrom('member_clusters').select('metadata').where('provider', '=', provider).orderBy('name');
  return (await query.execute()).map(({ metadata }) => metadata);
}

/** Returns clusters of all providers by provider and name, behind a place. */
export async function listClusters(db: Db, after: ClusterRef | null, limit: number): Promise<ClusterRow[]> {
  let query = rows(db).orderBy('c.provider').orderBy('c.name').limit(limit);
  if (after !== null) query = query.where(sql<boolean>`(c.provider, c.name) > (${after.provider}, ${after.cluster})`);
  return await query.execute();
}

/** Returns the names of all clusters with their labels. */
export async function listKnownClusters(db: Db): Promise<(ClusterRef & { labels: string[] })[]> {
  return await db
    .selectFrom('member_clusters as c')
    .select(['c.provider', 'c.name as cluster'])
    .select(
      sql<string[]>`array(select l.label from member_cluster_labels l
        where l.provider = c.provider and l.cluster = c.name)`.as('labels'),
    )
    .execute();
}

function rows(db: Db) {
  return db
    .selectFrom('member_clusters as c')
    .innerJoin('member_cluster_probes as p', (join) =>
      join.onRef('p.provider', '=', 'c.provider').onRef('p.name', '=', 'c.name'),
    )
    .select(['c.provider', 'c.name', 'c.metadata', 'c.server', 'c.credential_revision', 'c.credential_ends'])
    .select(['c.created_at', 'c.updated_at', 'c.actor'])
    .select(['p.is_answering', 'p.last_seen', 'p.probed_at', 'p.version', 'p.reason', 'p.message'])
    .select(
      sql<string[]>`array(select l.label from member_cluster_labels l
        where l.provider = c.provider and l.cluster = c.name order by l.label)`.as('labels'),
    )
    .select(
      sql<string>`(select count(distinct x.id) from context_groups g join deployment_contexts x on x.id = g.context
        where g.provider = c.provider and g.cluster = c.name and x.cloud <> ''
          and x.state not in ('Terminated', 'TerminateFailed'))`.as('deployments'),
    );
}
