/** Records below a cluster. The cluster is held while they change, so that it is not removed meanwhile. */
import type { Acting } from '../../domain/access/acting.ts';
import { type ClusterRef, clusterName } from '../../domain/deployments/naming.ts';
import { clusterPath, RECORDS, type RecordKind, recordPath } from '../../domain/deployments/record-path.ts';
import { type KvPairsRecord, type StoredRecord, valueOfKey } from '../../domain/deployments/record-schema.ts';
import { musterError } from '../../domain/errors.ts';
import { findCluster, holdCluster } from '../../store/deployments/clusters.ts';
import { insertRecord, listCollection } from '../../store/deployments/records.ts';
import { clusterNotFound } from './put-cluster.ts';
import { type GivenRecord, getRecord, type RecordDependencies } from './records.ts';

/** Adds a record of a cluster. Throws `not_found` for the cluster, `already_exists`. */
export async function addClusterRecord(
  { db, clock }: RecordDependencies,
  by: Acting,
  { kind, ref }: { kind: RecordKind; ref: ClusterRef },
  { metadata, spec = {} }: GivenRecord,
): Promise<StoredRecord> {
  const written = { actor: by.actor, operation: by.operation ?? null, now: clock() };
  const path = recordPath(clusterPath(ref), kind, metadata.name);
  await db.transaction().execute(async (trx) => {
    if (!(await holdCluster(trx, ref, 'share'))) throw clusterNotFound(ref);
    if ((await insertRecord(trx, { path, kind, parent: null, metadata, spec }, written)) !== 'taken') return;
    const { word } = RECORDS[kind];
    throw musterError('already_exists', `${word} '${metadata.name}' of cluster '${clusterName(ref)}' exists already`);
  });
  return { metadata, spec: { ...spec } };
}

/** Returns the records of a cluster in the order in which they were made. Throws `not_found` for the cluster. */
export async function clusterRecordsOf(
  { db }: Pick<RecordDependencies, 'db'>,
  kind: RecordKind,
  ref: ClusterRef,
): Promise<StoredRecord[]> {
  if ((await findCluster(db, ref)) === null) throw clusterNotFound(ref);
  const rows = await listCollection(db, kind, `${clusterPath(ref)}/${RECORDS[kind].collection}`);
  return rows.map(({ metadata, spec }) => ({ metadata, spec: { ...spec } }));
}

/** Returns the value of a key. Throws `not_found`. */
export async function getClusterValue(
  deps: Pick<RecordDependencies, 'db'>,
  path: string,
  key: string,
): Promise<string> {
  const record = (await getRecord(deps, 'kv-pairs', path)) as unknown as KvPairsRecord;
  const value = valueOfKey(record, key);
  if (value === null) throw musterError('not_found', `'${record.metadata.name}' has no key '${key}'`);
  return value;
}
