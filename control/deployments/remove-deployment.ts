/** Removes deployments: what is in clusters is deleted first, and the records go once that has ended. */
import type { Acting } from '../../domain/access/acting.ts';
import { type DeploymentPlace, shortPlace } from '../../domain/deployments/deployment-name.ts';
import { stepOfGroup } from '../../domain/deployments/lifecycle.ts';
import { nameInPath } from '../../domain/deployments/record-path.ts';
import type { Db } from '../../store/connection/database.ts';
import { findContext, isCloudInUse } from '../../store/deployments/contexts.ts';
import { deleteBelow, deleteRecord, holdRecord, listRecords } from '../../store/deployments/records.ts';
import {
  deleteRemoval,
  findShort,
  insertRemoval,
  isRemoved,
  listDueRemovals,
} from '../../store/deployments/short-deployments.ts';
import { callGroupIn, holdGroup, type LifecycleDependencies } from './group-lifecycle.ts';
import { standingOf } from './situation.ts';
import { wantedContext } from './tell-context.ts';

/** Removals that one sweep ends. */
const PORTION = 100;

/**
 * Removes a deployment: at once where nothing of it is in a cluster or nothing more is tried, else when it is terminated, which this asks for. Returns
 * whether it is gone already. Throws `not_found`.
 */
export async function removeDeployment(
  { db, clock, tell }: LifecycleDependencies,
  by: Acting,
  place: DeploymentPlace,
): Promise<boolean> {
  const written = { actor: by.actor, now: clock() };
  const { isGone, told } = await db.transaction().execute(async (trx) => {
    await holdGroup(trx, place.path);
    const { state } = await standingOf(trx, place.path);
    await insertRemoval(trx, place.path, written.actor, written.now);
    let told = '';
    if (state === 'Instantiated' || state === 'InstantiateStopped') {
      told = (await callGroupIn(trx, 'terminate', place, written)).instance;
    }
    if ((await standingOf(trx, place.path)).isBusy) return { isGone: false, told };
    await removeRecords(trx, place.path);
    return { isGone: true, told: '' };
  });
  if (told !== '') await tell([wantedContext(told)]);
  return isGone;
}

/** Ends the removal that an AppContext was waited for, where there is one and it has ended. */
export async function endRemovalOf({ db }: Pick<LifecycleDependencies, 'db'>, context: string): Promise<void> {
  const owner = (await findContext(db, context))?.owner;
  if (owner !== undefined && (await isRemoved(db, owner))) await endRemoval(db, owner);
}

/** Makes the sweep, which ends removals whose end was missed. */
export function createRemovalSweep({ db }: Pick<LifecycleDependencies, 'db'>): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    for (const path of await listDueRemovals(db, PORTION)) {
      signal.throwIfAborted();
      await endRemoval(db, path);
    }
  };
}

/** A termination that failed gives the removal up: objects may be left, and the records say where. The next removal takes the records away. */
async function endRemoval(db: Db, path: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if ((await holdRecord(trx, { kind: 'group', path }, 'update')) === null || !(await isRemoved(trx, path))) return;
    const { context, isBusy } = await standingOf(trx, path);
    if (isBusy) return;
    if (context === 'TerminateFailed') await deleteRemoval(trx, path);
    else await removeRecords(trx, path);
  });
}

/** Removes a group that is held with everything below it; of the short form also its apps and its logical cloud. Throws where it is at work. */
async function removeRecords(trx: Db, path: string): Promise<void> {
  stepOfGroup('delete', await standingOf(trx, path));
  const isShort = (await findShort(trx, path)) !== null;
  await deleteWhole(trx, path);
  if (!isShort) return;
  const { compositeApp, cloud } = shortPlace(nameInPath(path));
  // A further group may have been added to its apps, or is just being added.
  await holdRecord(trx, { kind: 'composite-app', path: compositeApp }, 'update');
  if ((await listRecords(trx, 'group', compositeApp)).length > 0) return;
  await deleteWhole(trx, compositeApp);
  const isThere = (await holdRecord(trx, { kind: 'cloud', path: cloud }, 'update')) !== null;
  if (isThere && !(await isCloudInUse(trx, cloud))) await deleteWhole(trx, cloud);
}

async function deleteWhole(trx: Db, path: string): Promise<void> {
  await deleteBelow(trx, path);
  await deleteRecord(trx, path);
}
