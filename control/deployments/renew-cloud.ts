/** The logical cloud of a deployment of the short form: it follows the labels of clusters at each instantiate. */
import { cloudOf, shortPlace } from '../../domain/deployments/deployment-name.ts';
import { byName, type ClusterRef, clusterName } from '../../domain/deployments/naming.ts';
import { candidatesFor, placeApp } from '../../domain/deployments/placement.ts';
import { nameInPath } from '../../domain/deployments/record-path.ts';
import type { AppIntentRecord } from '../../domain/deployments/record-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { listKnownClusters } from '../../store/deployments/clusters.ts';
import { appendAction } from '../../store/deployments/histories.ts';
import { deleteRecord, holdRecord, listRecords } from '../../store/deployments/records.ts';
import { findShort } from '../../store/deployments/short-deployments.ts';
import { terminateContext } from './end-context.ts';
import { freezeCloud } from './instantiate.ts';
import { addRecordIn } from './records.ts';
import { standingOf } from './situation.ts';

/**
 * Makes the cloud of a group anew, of the clusters that its intents can choose now; a group that was made otherwise has a cloud of its user's. Throws
 * `no_clusters`, `no_such_cluster`.
 */
export async function renewCloud(trx: Db, group: string, written: { actor: string | null; now: Date }): Promise<void> {
  if ((await findShort(trx, group)) === null) return;
  const name = nameInPath(group);
  const path = shortPlace(name).cloud;
  const cloud = await holdRecord(trx, { kind: 'cloud', path }, 'update');
  if (cloud === null) return;
  const clusters = await candidatesOf(trx, group);
  const { context, instance } = await standingOf(trx, path);
  if (context === 'Instantiated' && instance !== null) {
    await terminateContext(trx, instance, written.now);
    await appendAction(trx, { owner: path, state: 'Terminated', instance }, written);
  }
  for (const former of await listRecords(trx, 'cluster-reference', path)) await deleteRecord(trx, former.path);
  for (const [index, { provider, cluster }] of clusters.entries()) {
    const metadata = { name: `${cloudOf(name)}-${index}`, description: '', userData1: '', userData2: '' };
    const spec = { 'cluster-provider': provider, 'cluster-name': cluster };
    const place = { kind: 'cluster-reference', parent: path } as const;
    await addRecordIn(trx, { ...written, operation: null }, place, { metadata, spec });
  }
  const made = await freezeCloud(trx, cloud, written);
  await appendAction(trx, { owner: path, state: 'Instantiated', instance: made.id }, written);
}

/** Returns the clusters in the order of their names, so that two calls never wait for each other. */
async function candidatesOf(trx: Db, group: string): Promise<ClusterRef[]> {
  const known = await listKnownClusters(trx);
  const found = new Map<string, ClusterRef>();
  for (const { path } of await listRecords(trx, 'placement-intent', group)) {
    const intents = (await listRecords(trx, 'app-intent', path)) as unknown as AppIntentRecord[];
    for (const { spec } of intents) {
      // An app that goes nowhere is told by its name.
      placeApp(spec['app-name'], spec.intent, known);
      for (const ref of candidatesFor(spec['app-name'], spec.intent, known)) found.set(clusterName(ref), ref);
    }
  }
  return [...found].sort(([one], [other]) => byName(one, other)).map(([, ref]) => ref);
}
