/** Life cycle of logical clouds of level 0: nothing is made in their clusters. */
import type { Acting } from '../../domain/access/acting.ts';
import { checkCloudCall } from '../../domain/deployments/cloud-lifecycle.ts';
import type { GroupState } from '../../domain/deployments/history.ts';
import { nameInPath } from '../../domain/deployments/record-path.ts';
import type { AcceptedCall, CloudRecord, StoredRecord } from '../../domain/deployments/record-schema.ts';
import { musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import { isCloudInUse } from '../../store/deployments/contexts.ts';
import { appendAction, findActionOf } from '../../store/deployments/histories.ts';
import { holdRecord } from '../../store/deployments/records.ts';
import { stopContext, terminateContext } from './end-context.ts';
import { freezeCloud } from './instantiate.ts';
import { addRecord, type GivenRecord, type RecordDependencies, recordNotFound, removeRecord } from './records.ts';
import { standingOf } from './situation.ts';

/** Adds a logical cloud; its history begins. Throws `level_not_supported`, `not_found` for the project, `already_exists`. */
export async function addCloud(
  deps: RecordDependencies,
  by: Acting,
  project: string,
  given: GivenRecord & { spec?: CloudRecord['spec'] },
): Promise<StoredRecord> {
  const level = given.spec?.level || '1';
  if (level !== '0') {
    throw musterError(
      'level_not_supported',
      `Logical clouds of level '${level}' are not built: give level "0"`,
      'spec.level',
    );
  }
  return await addRecord(deps, by, { kind: 'cloud', parent: project }, given, {
    beside: (trx, path) =>
      appendAction(trx, { owner: path, state: 'Created', instance: '' }, { actor: by.actor, now: deps.clock() }),
  });
}

/** States after a call; a stop leads to another one in each phase. */
const STATE_AFTER: Readonly<Record<'instantiate' | 'terminate', GroupState>> = {
  instantiate: 'Instantiated',
  terminate: 'Terminated',
};

/**
 * Instantiates, terminates or stops a cloud. At level 0 both phases are done at once, so a stop always finds nothing to stop.
 * Throws `invalid_state`, `no_clusters`, `in_use`, `not_found`.
 */
export async function callCloud(
  deps: RecordDependencies,
  by: Acting,
  call: 'instantiate' | 'terminate' | 'stop',
  path: string,
): Promise<AcceptedCall> {
  return await deps.db.transaction().execute(async (trx) => {
    const cloud = await holdRecord(trx, { kind: 'cloud', path }, 'update');
    if (cloud === null) throw recordNotFound('cloud', path);
    const { context, instance } = await standingOf(trx, path);
    const written = { actor: by.actor, operation: by.operation ?? null, now: deps.clock() };
    const before = await findActionOf(trx, path, written.operation);
    if (before !== null) return before;
    checkCloudCall(call, context);
    let named = instance ?? '';
    let state: GroupState;
    if (call === 'stop') {
      await stopContext(trx, named, written.now);
      state = context === 'Instantiating' ? 'InstantiateStopped' : 'TerminateStopped';
    } else {
      if (call === 'instantiate') named = (await freezeCloud(trx, cloud, written)).id;
      else {
        await checkUnused(trx, path);
        await terminateContext(trx, named, written.now);
      }
      state = STATE_AFTER[call];
    }
    await appendAction(trx, { owner: path, state, instance: named }, written);
    return { state, instance: named };
  });
}

/** Removes a cloud. Throws `invalid_state`, `in_use`, `has_children`. */
export async function removeCloud(deps: Pick<RecordDependencies, 'db'>, path: string): Promise<void> {
  await removeRecord(deps, 'cloud', path, {
    check: async (trx) => {
      checkCloudCall('delete', (await standingOf(trx, path)).context);
      await checkUnused(trx, path);
    },
  });
}

/** Removes a reference. Throws `invalid_state` while the cloud is instantiated. */
export async function removeReference(
  deps: Pick<RecordDependencies, 'db'>,
  path: string,
  cloud: string,
): Promise<void> {
  await removeRecord(deps, 'cluster-reference', path, {
    before: async (trx) => {
      if ((await holdRecord(trx, { kind: 'cloud', path: cloud }, 'update')) === null)
        throw recordNotFound('cloud', cloud);
      checkCloudCall('delete', (await standingOf(trx, cloud)).context);
    },
  });
}

async function checkUnused(trx: Db, path: string): Promise<void> {
  if (!(await isCloudInUse(trx, path))) return;
  throw musterError('in_use', `A deployment in logical cloud '${nameInPath(path)}' has not ended: terminate it first`);
}
