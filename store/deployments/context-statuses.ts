/** Rows of an AppContext as a status query shows them. */
import type { ClusterRef } from '../../domain/deployments/naming.ts';
import type { Db } from '../connection/database.ts';

export interface StatusFilter {
  /** Empty: every app, cluster, name. */
  apps: readonly string[];
  clusters: readonly ClusterRef[];
  resources: readonly string[];
  /** With the manifests. */
  isDetailed: boolean;
}

/** Returns the resources of an AppContext with their clusters, by the order of the apps. */
export async function listStatuses(db: Db, context: string, { apps, clusters, resources, isDetailed }: StatusFilter) {
  let query = db
    .selectFrom('context_resources as r')
    .innerJoin('context_groups as g', (join) =>
      join
        .onRef('g.context', '=', 'r.context')
        .onRef('g.app', '=', 'r.app')
        .onRef('g.provider', '=', 'r.provider')
        .onRef('g.cluster', '=', 'r.cluster'),
    )
    .innerJoin('context_manifests as m', (join) =>
      join.onRef('m.context', '=', 'r.context').onRef('m.app', '=', 'r.app').onRef('m.key', '=', 'r.key'),
    )
    .leftJoin('member_cluster_probes as p', (join) =>
      join.onRef('p.provider', '=', 'r.provider').onRef('p.name', '=', 'r.cluster'),
    )
    .select([
      'r.app',
      'r.provider',
      'r.cluster',
      'r.key',
      'r.status',
      'r.reason',
      'r.message',
      'r.sent_namespace',
      'r.attempted',
    ])
    .select(['m.api_group', 'm.version', 'm.kind', 'm.namespace', 'm.name'])
    .select(['p.is_answering', 'p.last_seen', 'g.applied_at'])
    .$if(isDetailed, (detailed) => detailed.select('m.manifest'))
    .where('r.context', '=', context)
    .orderBy('g.position');
  if (apps.length > 0) query = query.where('r.app', 'in', [...apps]);
  if (resources.length > 0) query = query.where('m.name', 'in', [...resources]);
  if (clusters.length > 0) {
    const names = clusters.map(({ provider, cluster }) => ({ provider, cluster }));
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple('r.provider', 'r.cluster'),
        'in',
        names.map(({ provider, cluster }) => tuple(provider, cluster)),
      ),
    );
  }
  return await query.execute();
}
export type StatusRow = Awaited<ReturnType<typeof listStatuses>>[number];
