/** Network intents of a cluster: records, and a life cycle whose AppContexts have one app on that cluster. */
import type { Acting } from '../../domain/access/acting.ts';
import type { NetworkState } from '../../domain/deployments/history.ts';
import { type Identity, identityOf, keysOf } from '../../domain/deployments/manifest-identity.ts';
import { type ClusterRef, clusterName } from '../../domain/deployments/naming.ts';
import { checkNetworkChange, type NetworkCall, stepOfNetworks } from '../../domain/deployments/network-lifecycle.ts';
import { type NetworkIntent, networkManifests } from '../../domain/deployments/network-objects.ts';
import { clusterPath, networksPath, RECORDS, recordPath } from '../../domain/deployments/record-path.ts';
import type { StoredRecord } from '../../domain/deployments/record-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import type { StoredManifest } from '../../store/deployments/app-manifests.ts';
import { findCluster, holdCluster } from '../../store/deployments/clusters.ts';
import { appendAction, findActionOf } from '../../store/deployments/histories.ts';
import { insertRecord, listCollection } from '../../store/deployments/records.ts';
import { addClusterRecord, holdForRecords, putClusterRecord } from './cluster-records.ts';
import { stopContext, terminateContext } from './end-context.ts';
import type { LifecycleDependencies } from './group-lifecycle.ts';
import { freezeNetworks } from './instantiate.ts';
import { clusterNotFound } from './put-cluster.ts';
import { type GivenRecord, type RecordDependencies, removeRecord } from './records.ts';
import { type Standing, standingOf } from './situation.ts';
import { wantedContext } from './tell-context.ts';

/** Adds a network intent. Throws `not_found`, `already_exists`, `invalid_state`, `context_busy`. */
export async function addNetwork(
  deps: RecordDependencies,
  by: Acting,
  kind: NetworkIntent['kind'],
  ref: ClusterRef,
  given: GivenRecord,
): Promise<StoredRecord> {
  return await addClusterRecord(deps, by, { kind, ref, check: mayChange('create', ref) }, given);
}

/** Replaces a network intent, or adds it. Throws `bad_request` for the name, `not_found`, `invalid_state`, `context_busy`. */
export async function putNetwork(
  deps: RecordDependencies,
  by: Acting,
  { kind, ref, name }: { kind: NetworkIntent['kind']; ref: ClusterRef; name: string },
  given: GivenRecord,
): Promise<{ record: StoredRecord; isNew: boolean }> {
  return await putClusterRecord(deps, by, { kind, ref, name, check: mayChange('create', ref) }, given);
}

/** Removes a network intent. Throws `not_found`, `invalid_state`, `context_busy`. */
export async function removeNetwork(
  deps: Pick<RecordDependencies, 'db'>,
  kind: NetworkIntent['kind'],
  ref: ClusterRef,
  name: string,
): Promise<void> {
  await removeRecord(deps, kind, recordPath(clusterPath(ref), kind, name), {
    before: (trx) => holdForRecords(trx, ref),
    check: mayChange('delete', ref),
  });
}

function mayChange(change: 'create' | 'delete', ref: ClusterRef) {
  return async (trx: Db) => checkNetworkChange(change, await standingOf<NetworkState>(trx, networksPath(ref)));
}

/** Applies, terminates or stops the network intents of a cluster. Throws `not_found`, `invalid_state`, `context_busy`. */
export async function callNetworks(
  deps: LifecycleDependencies,
  by: Acting,
  call: Exclude<NetworkCall, 'delete'>,
  ref: ClusterRef,
): Promise<void> {
  const written = { actor: by.actor, operation: null, now: deps.clock() };
  const instance = await deps.db.transaction().execute(async (trx) => {
    if (!(await holdCluster(trx, ref, 'update'))) throw clusterNotFound(ref);
    const path = networksPath(ref);
    const operation = by.operation ?? null;
    const before = await findActionOf<NetworkState>(trx, path, operation);
    if (before !== null) return before.instance;
    const standing = await standingOf<NetworkState>(trx, path);
    const step = stepOfNetworks(call, standing);
    if (step === 'nothing' || step === 'delete') return '';
    await holdHistory(trx, ref, standing, written);
    const named = await work(trx, call, ref, { standing, written });
    await appendAction(trx, { owner: path, state: step.state, instance: named }, { ...written, operation });
    return named;
  });
  if (instance !== '') await deps.tell([wantedContext(instance)]);
}

interface Written {
  actor: string | null;
  operation: null;
  now: Date;
}

/** Does what a call asks of AppContexts. Returns the one that the history names. */
async function work(
  trx: Db,
  call: Exclude<NetworkCall, 'delete'>,
  ref: ClusterRef,
  { standing: { instance, state }, written }: { standing: Standing<NetworkState>; written: Written },
): Promise<string> {
  if (call === 'apply') return (await freezeNetworks(trx, ref, await manifestsOf(trx, ref), written)).id;
  if (instance === null) throw new Error(`the networks of ${clusterName(ref)} are ${state} without an AppContext`);
  if (call === 'terminate') await terminateContext(trx, instance, written.now);
  else await stopContext(trx, instance, written.now);
  return instance;
}

/** The history begins with the cluster; its record is made with the first call. */
async function holdHistory(
  trx: Db,
  ref: ClusterRef,
  { actions }: Standing<NetworkState>,
  written: Written,
): Promise<void> {
  if (actions.length > 0) return;
  const path = networksPath(ref);
  const metadata = { name: ref.cluster, description: '', userData1: '', userData2: '' };
  const record = { kind: 'network-intents', path, parent: null, metadata, spec: {} } as const;
  await insertRecord(trx, record, written);
  const made = await findCluster(trx, ref);
  const since = { actor: made?.actor ?? null, now: made?.created_at ?? written.now };
  await appendAction(trx, { owner: path, state: 'Created', instance: '' }, since);
}

/** Returns the manifests of the intents, each kind in the order in which they were made. */
async function manifestsOf(trx: Db, ref: ClusterRef): Promise<StoredManifest[]> {
  const intents: NetworkIntent[] = [];
  for (const kind of ['network', 'provider-network'] as const) {
    const rows = await listCollection(trx, kind, `${clusterPath(ref)}/${RECORDS[kind].collection}`);
    intents.push(...rows.map(({ metadata, spec }) => ({ kind, metadata: { ...metadata }, spec: { ...spec } })));
  }
  const manifests = networkManifests(intents);
  const identities = manifests.map(identityOf);
  const keys = keysOf(identities);
  return manifests.map((manifest, index) => ({
    ...(identities[index] as Identity),
    ...{ key: keys[index] as string, manifest: JSON.stringify(manifest), sealId: null, sealed: null },
  }));
}
