/** Checks a deployment intent group and freezes its apps and their places into a new AppContext. */
import { randomBytes } from 'node:crypto';
import { checkCloudReady } from '../../domain/deployments/cloud-lifecycle.ts';
import { type ContextState, changeContext, stateAfter } from '../../domain/deployments/context-state.ts';
import { inDependencyOrder } from '../../domain/deployments/dependencies.ts';
import { membersOf } from '../../domain/deployments/members.ts';
import { byName, type ClusterRef, checkLabelLength, clusterName } from '../../domain/deployments/naming.ts';
import { NETWORK_APP } from '../../domain/deployments/network-objects.ts';
import { notSupported } from '../../domain/deployments/not-supported.ts';
import { checkCloudHas, type KnownCluster, noClusters, placeApp } from '../../domain/deployments/placement.ts';
import { nameInPath, networksPath, projectOf, recordPath } from '../../domain/deployments/record-path.ts';
import type {
  AppIntentRecord,
  AppRecord,
  CloudRecord,
  ClusterReferenceRecord,
  GroupRecord,
  IntentRecord,
} from '../../domain/deployments/record-schema.ts';
import { checkResourceWaits, resourceWaits, WAIT_ANNOTATION } from '../../domain/deployments/resource-waits.ts';
import { musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import { listKeys, listManifestsWith, type StoredManifest } from '../../store/deployments/app-manifests.ts';
import { holdCluster, listKnownClusters } from '../../store/deployments/clusters.ts';
import { forgetEnded, writeContext } from '../../store/deployments/contexts.ts';
import { insertContext, type PlacedApp } from '../../store/deployments/freeze.ts';
import { holdRecord, listRecords, type RecordRow } from '../../store/deployments/records.ts';
import { standingOf } from './situation.ts';

/** Key of the intent that names the placement of a group. */
export const INTENT_KEY = 'genericPlacementIntent';
const DEFAULT_NAMESPACE = 'default';
/** AppContexts that have ended and can still be asked for, of each record. */
const KEPT = 10;

export interface Made {
  id: string;
  state: ContextState;
}

/**
 * Makes the AppContext of a group that is held.
 * Throws `no_placement_intent`, `bad_request` for the cloud, `logical_cloud_not_ready`, `no_such_cluster`, `no_clusters`,
 * `dependency_cycle`, `logical_cloud_lacks_clusters`, `label_too_long`.
 */
export async function freezeGroup(
  trx: Db,
  group: RecordRow,
  compositeApp: string,
  { actor, now }: { actor: string | null; now: Date },
): Promise<Made> {
  const { 'logical-cloud': cloudName, muster = {} } = (group as unknown as GroupRecord).spec;
  const intent = await placementIntentOf(trx, group.path);
  const cloud = await readyCloud(trx, projectOf(group.path), cloudName);
  const apps = await placedApps(trx, compositeApp, intent);
  const chosen = apps.flatMap(({ clusters }) => clusters);
  const waits = await waitsOf(trx, apps);
  checkCloudHas(cloudName, cloud.clusters, chosen);
  checkLabelLength(apps.map(({ name }) => name));
  await holdClusters(trx, chosen);
  const context = {
    ...{ id: newContextId(), owner: group.path, cloud: cloud.path, namespace: cloud.namespace },
    ...{ settings: waits === null ? muster : { ...muster, waits }, actor },
  };
  return await begin(trx, context, apps, now);
}

/** Makes the AppContext of a logical cloud that is held: it has its clusters and no resources, so it is instantiated at once. */
export async function freezeCloud(
  trx: Db,
  cloud: RecordRow,
  { actor, now }: { actor: string | null; now: Date },
): Promise<Made> {
  const clusters = await referencesOf(trx, cloud.path);
  if (clusters.length === 0) {
    throw musterError('no_clusters', `Logical cloud '${nameInPath(cloud.path)}' has no cluster reference`);
  }
  for (const cluster of clusters) {
    if (await holdCluster(trx, cluster, 'share')) continue;
    throw musterError('not_found', `Cluster '${clusterName(cluster)}' could not be found`);
  }
  const context = {
    ...{ id: newContextId(), owner: cloud.path, cloud: '', namespace: namespaceOf(cloud), settings: {}, actor },
  };
  return await begin(trx, context, [{ path: null, name: 'logical-cloud', clusters }], now);
}

/** Makes the AppContext of the network intents of a cluster that is held; without intents it is instantiated at once. */
export async function freezeNetworks(
  trx: Db,
  ref: ClusterRef,
  manifests: readonly StoredManifest[],
  { actor, now }: { actor: string | null; now: Date },
): Promise<Made> {
  const owner = networksPath(ref);
  const context = { id: newContextId(), owner, cloud: '', namespace: DEFAULT_NAMESPACE, settings: {}, actor };
  return await begin(trx, context, [{ path: null, name: NETWORK_APP, clusters: [ref], manifests }], now);
}

/** Returns a decimal text of a random integer below 2^63. */
function newContextId(): string {
  return (randomBytes(8).readBigUInt64BE() >> 1n).toString();
}

async function begin(
  trx: Db,
  context: Parameters<typeof insertContext>[1],
  apps: readonly PlacedApp[],
  now: Date,
): Promise<Made> {
  const { id } = context;
  await forgetEnded(trx, context.owner, KEPT);
  if ((await insertContext(trx, context, apps, now)) > 0) return { id, state: 'Instantiating' };
  const state = changeContext('Instantiating', stateAfter('apply', true));
  await writeContext(trx, id, { state, wanted: null, isStopped: false }, now);
  return { id, state };
}

/** Returns the path of the placement intent that the group's intents name. */
async function placementIntentOf(trx: Db, group: string): Promise<string> {
  const intents = (await listRecords(trx, 'intent', group)) as unknown as IntentRecord[];
  const name = intents.map(({ spec }) => spec.intent[INTENT_KEY]).find((found) => found !== undefined);
  if (name === undefined) {
    throw musterError('no_placement_intent', `No intent of '${nameInPath(group)}' has the key ${INTENT_KEY}`);
  }
  const path = recordPath(group, 'placement-intent', name);
  if ((await holdRecord(trx, { kind: 'placement-intent', path }, 'share')) !== null) return path;
  throw musterError('no_placement_intent', `The intents name '${name}', and there is no such generic placement intent`);
}

async function readyCloud(
  trx: Db,
  project: string,
  name: string,
): Promise<{ path: string; namespace: string; clusters: ClusterRef[] }> {
  const path = recordPath(project, 'cloud', name);
  const cloud = await holdRecord(trx, { kind: 'cloud', path }, 'share');
  if (cloud === null)
    throw musterError('bad_request', `Logical cloud '${name}' could not be found`, 'spec.logical-cloud');
  checkCloudReady(name, (await standingOf(trx, path)).context);
  return { path, namespace: namespaceOf(cloud), clusters: await referencesOf(trx, path) };
}

function namespaceOf(cloud: RecordRow): string {
  return (cloud as unknown as CloudRecord).spec?.namespace ?? DEFAULT_NAMESPACE;
}

/** Each cluster once, by name. */
async function referencesOf(trx: Db, cloud: string): Promise<ClusterRef[]> {
  const records = (await listRecords(trx, 'cluster-reference', cloud)) as unknown as ClusterReferenceRecord[];
  const found = records.map(({ spec }) => ({ provider: spec['cluster-provider'], cluster: spec['cluster-name'] }));
  return [...new Map(found.map((ref) => [clusterName(ref), ref])).values()];
}

/** Returns the apps in the order in which they were added, each with the clusters that its intents choose. */
async function placedApps(trx: Db, compositeApp: string, intent: string): Promise<OrderedApp[]> {
  // Its apps stay as they are until the AppContext is made.
  await holdRecord(trx, { kind: 'composite-app', path: compositeApp }, 'share');
  const apps = await listRecords(trx, 'app', compositeApp);
  if (apps.length === 0) throw musterError('no_clusters', 'The composite app has no app, so there is nothing to place');
  const intents = (await listRecords(trx, 'app-intent', intent)) as unknown as AppIntentRecord[];
  const known = await listKnownClusters(trx);
  return apps.map(({ path, spec }) => {
    const name = nameInPath(path);
    const own = intents.filter(({ spec }) => spec['app-name'] === name);
    if (own.length === 0) throw noClusters(name, 'no app intent names it');
    const { dependsOn = [] } = spec as NonNullable<AppRecord['spec']>;
    return { path, name, dependsOn, clusters: chosenBy(name, own, known) };
  });
}

interface OrderedApp extends PlacedApp {
  path: string;
  dependsOn: readonly string[];
}

/** Returns what each app that waits waits for; null: no app waits. Throws `dependency_cycle` for apps and for the resources of each. */
async function waitsOf(trx: Db, apps: readonly OrderedApp[]): Promise<Record<string, readonly string[]> | null> {
  const waits = new Map(apps.filter(({ dependsOn }) => dependsOn.length > 0).map((app) => [app.name, app.dependsOn]));
  inDependencyOrder(
    apps.map(({ name }) => name),
    waits,
    'app',
    'spec.dependsOn',
  );
  await checkResources(trx, apps);
  return waits.size === 0 ? null : Object.fromEntries(waits);
}

/** Their order was made when they were uploaded, where there is one. */
async function checkResources(trx: Db, apps: readonly OrderedApp[]): Promise<void> {
  const paths = apps.map(({ path }) => path);
  const annotated = await listManifestsWith(trx, paths, WAIT_ANNOTATION);
  for (const { path, name } of apps) {
    const own = annotated.filter(({ app }) => app === path);
    const waits = resourceWaits(own.map(({ key, manifest }) => ({ key, manifest: membersOf(JSON.parse(manifest)) })));
    if (waits.size > 0) checkResourceWaits(name, await listKeys(trx, path), waits);
  }
}

function chosenBy(name: string, intents: readonly AppIntentRecord[], known: readonly KnownCluster[]): ClusterRef[] {
  const chosen = intents.flatMap(({ spec }) => placeApp(name, spec.intent, known));
  return [...new Map(chosen.map((ref) => [clusterName(ref), ref])).values()];
}

/** In the order of their names, so that two calls never wait for each other. */
async function holdClusters(trx: Db, chosen: readonly ClusterRef[]): Promise<void> {
  const each = new Map(chosen.map((ref) => [clusterName(ref), ref]));
  for (const [name, ref] of [...each].sort(([one], [other]) => byName(one, other))) {
    if (!(await holdCluster(trx, ref, 'share'))) {
      throw musterError('no_such_cluster', `Cluster '${name}' does not exist any more`);
    }
  }
}

/** Settings of which nothing is built. */
const LATER = ['waves', 'maxParallelClusters', 'failureLimit', 'reconcile'] as const;

/** Throws `not_supported` for settings that are known and not built. */
export function checkSettings({ spec: { muster } }: GroupRecord): void {
  if (muster?.unknownFields === 'drop') throw notSupported('spec.muster.unknownFields: drop');
  if (muster?.forceConflicts === false) throw notSupported('spec.muster.forceConflicts: false');
  const later = LATER.find((name) => muster?.[name] !== undefined);
  if (later !== undefined) throw notSupported(`spec.muster.${later}`);
}
