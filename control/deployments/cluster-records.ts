/** Records below a cluster. The cluster is held while they change, so that it is not removed meanwhile. */
import type { Acting } from '../../domain/access/acting.ts';
import { type ClusterRef, clusterName } from '../../domain/deployments/naming.ts';
import { clusterPath, RECORDS, type RecordKind, recordPath } from '../../domain/deployments/record-path.ts';
import { type KvPairsRecord, type StoredRecord, valueOfKey } from '../../domain/deployments/record-schema.ts';
import { musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import { findCluster, holdCluster } from '../../store/deployments/clusters.ts';
import { insertRecord, listCollection, replaceRecord } from '../../store/deployments/records.ts';
import { clusterNotFound } from './put-cluster.ts';
import { type GivenRecord, getRecord, type RecordDependencies } from './records.ts';

/** Where a record of a cluster is to stand. `check`: whether it may, once the cluster is held. */
export interface ClusterPlace {
  kind: RecordKind;
  ref: ClusterRef;
  check?: (trx: Db) => Promise<void>;
}

/** Adds a record of a cluster. Throws `not_found` for the cluster, `already_exists`. */
export async function addClusterRecord(
  { db, clock }: RecordDependencies,
  by: Acting,
  { kind, ref, check }: ClusterPlace,
  { metadata, spec = {} }: GivenRecord,
): Promise<StoredRecord> {
  const written = { actor: by.actor, operation: by.operation ?? null, now: clock() };
  const path = recordPath(clusterPath(ref), kind, metadata.name);
  await db.transaction().execute(async (trx) => {
    await holdForRecords(trx, ref);
    await check?.(trx);
    if ((await insertRecord(trx, { path, kind, parent: null, metadata, spec }, written)) !== 'taken') return;
    const { word } = RECORDS[kind];
    throw musterError('already_exists', `${word} '${metadata.name}' of cluster '${clusterName(ref)}' exists already`);
  });
  return { metadata, spec: { ...spec } };
}

/** Replaces a record of a cluster, or adds it. Throws `bad_request` where the names differ, `not_found` for the cluster. */
export async function putClusterRecord(
  { db, clock }: RecordDependencies,
  by: Acting,
  { kind, ref, check, name }: ClusterPlace & { name: string },
  { metadata, spec = {} }: GivenRecord,
): Promise<{ record: StoredRecord; isNew: boolean }> {
  if (metadata.name !== name) {
    throw musterError('bad_request', `The path names '${name}', the body '${metadata.name}'`, 'metadata.name');
  }
  const written = { actor: by.actor, operation: by.operation ?? null, now: clock() };
  const row = { path: recordPath(clusterPath(ref), kind, name), kind, metadata, spec };
  const isNew = await db.transaction().execute(async (trx) => {
    await holdForRecords(trx, ref);
    await check?.(trx);
    if (await replaceRecord(trx, row, written)) return false;
    const made = await insertRecord(trx, { ...row, parent: null }, written);
    if (made === 'taken') throw musterError('already_exists', `'${name}' was made at the same moment: try again`);
    return true;
  });
  return { record: { metadata, spec: { ...spec } }, isNew };
}

/** The life cycle of its network intents holds the cluster for itself. Throws `not_found`. */
export async function holdForRecords(trx: Db, ref: ClusterRef): Promise<void> {
  if (!(await holdCluster(trx, ref, 'share'))) throw clusterNotFound(ref);
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
