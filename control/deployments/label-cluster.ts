/** Labels of clusters, by which apps are placed. */
import type { Acting } from '../../domain/access/acting.ts';
import { type ClusterRef, clusterName } from '../../domain/deployments/naming.ts';
import { musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import { deleteLabel, insertLabel, listLabels } from '../../store/deployments/cluster-labels.ts';
import { findCluster, holdCluster } from '../../store/deployments/clusters.ts';
import { isLabelInUse } from '../../store/deployments/contexts.ts';
import { clusterNotFound } from './put-cluster.ts';

export interface LabelDependencies {
  db: Db;
  clock(): Date;
}

/** Sets a label. Throws `not_found` for the cluster, `already_exists`. */
export async function addLabel(
  { db, clock }: LabelDependencies,
  by: Acting,
  ref: ClusterRef,
  label: string,
): Promise<void> {
  const written = { actor: by.actor, operation: by.operation ?? null, now: clock() };
  await db.transaction().execute(async (trx) => {
    if (!(await holdCluster(trx, ref, 'share'))) throw clusterNotFound(ref);
    if (await insertLabel(trx, ref, label, written)) return;
    throw musterError('already_exists', `Cluster '${clusterName(ref)}' has the label '${label}' already`);
  });
}

/** Removes a label. Throws `not_found`, and `in_use` while a deployment is there because of it. */
export async function removeLabel(
  { db }: Pick<LabelDependencies, 'db'>,
  ref: ClusterRef,
  label: string,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    // A deployment that is being placed has the cluster meanwhile.
    if (!(await holdCluster(trx, ref, 'update'))) throw clusterNotFound(ref);
    if (!(await deleteLabel(trx, ref, label))) throw labelNotFound(ref, label);
    if (!(await isLabelInUse(trx, ref, label))) return;
    throw musterError(
      'in_use',
      `A deployment that has not ended is on cluster '${clusterName(ref)}' by label '${label}': terminate it first`,
    );
  });
}

/** Returns the labels of a cluster by name. Throws `not_found`. */
export async function labelsOf({ db }: Pick<LabelDependencies, 'db'>, ref: ClusterRef): Promise<string[]> {
  if ((await findCluster(db, ref)) === null) throw clusterNotFound(ref);
  return await listLabels(db, ref);
}

/** Returns a label that the cluster has. Throws `not_found`. */
export async function getLabel(deps: Pick<LabelDependencies, 'db'>, ref: ClusterRef, label: string): Promise<string> {
  if (!(await labelsOf(deps, ref)).includes(label)) throw labelNotFound(ref, label);
  return label;
}

function labelNotFound(ref: ClusterRef, label: string) {
  return musterError('not_found', `Cluster '${clusterName(ref)}' has no label '${label}'`);
}
