/** Rows of the labels of member clusters. */
import type { ClusterRef } from '../../domain/deployments/naming.ts';
import type { Db } from '../connection/database.ts';
import type { Written } from './providers.ts';

/** Adds a label. Returns false when the cluster has it, unless the same operation has set it before. */
export async function insertLabel(trx: Db, ref: ClusterRef, label: string, written: Written): Promise<boolean> {
  const { actor, operation, now } = written;
  const added = await trx
    .insertInto('member_cluster_labels')
    .values({ ...ref, label, operation, created_at: now, actor })
    .onConflict((conflict) => conflict.doNothing())
    .returning('label')
    .executeTakeFirst();
  if (added !== undefined || operation === null) return added !== undefined;
  const found = await only(trx, ref).select('operation').where('label', '=', label).executeTakeFirst();
  return found?.operation === operation;
}

/** Removes a label. Returns false when the cluster has none of that name. */
export async function deleteLabel(db: Db, { provider, cluster }: ClusterRef, label: string): Promise<boolean> {
  const query = db.deleteFrom('member_cluster_labels').where('provider', '=', provider).where('cluster', '=', cluster);
  return (await query.where('label', '=', label).returning('label').executeTakeFirst()) !== undefined;
}

/** Returns the labels of a cluster by name. */
export async function listLabels(db: Db, ref: ClusterRef): Promise<string[]> {
  const found = await only(db, ref).select('label').orderBy('label').execute();
  return found.map(({ label }) => label);
}

/** Returns the names of a provider's clusters that have a label, by name. */
export async function listLabelled(db: Db, provider: string, label: string): Promise<string[]> {
  const query = db.selectFrom('member_cluster_labels').select('cluster').where('provider', '=', provider);
  const found = await query.where('label', '=', label).orderBy('cluster').execute();
  return found.map(({ cluster }) => cluster);
}

function only(db: Db, { provider, cluster }: ClusterRef) {
  return db.selectFrom('member_cluster_labels').where('provider', '=', provider).where('cluster', '=', cluster);
}
