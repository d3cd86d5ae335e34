/** Life cycle of deployment intent groups. Each call is one transaction on the group's row; afterwards Temporal is told. */
import type { Acting } from '../../domain/access/acting.ts';
import { changeOfIntent, type GroupCall, stepOfGroup } from '../../domain/deployments/lifecycle.ts';
import { nameInPath, type RecordKind } from '../../domain/deployments/record-path.ts';
import type { AcceptedCall, StoredRecord } from '../../domain/deployments/record-schema.ts';
import { musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import { appendAction, findActionOf } from '../../store/deployments/histories.ts';
import { deleteBelow, deleteRecord, holdRecord, isParent, type RecordRow } from '../../store/deployments/records.ts';
import { isRemoved } from '../../store/deployments/short-deployments.ts';
import type { Tell } from '../temporal/tell.ts';
import { stopContext, terminateContext } from './end-context.ts';
import { freezeGroup } from './instantiate.ts';
import { addRecord, type GivenRecord, recordNotFound, removeRecord } from './records.ts';
import { renewCloud } from './renew-cloud.ts';
import { type Standing, standingOf } from './situation.ts';
import { wantedContext } from './tell-context.ts';

export interface LifecycleDependencies {
  db: Db;
  tell: Tell;
  clock(): Date;
}

/** Where a group stands. */
export interface GroupPlace {
  path: string;
  compositeApp: string;
}

/** Adds a group; its history begins. Throws `not_found` for the composite app, `already_exists`. */
export async function addGroup(
  deps: LifecycleDependencies,
  by: Acting,
  compositeApp: string,
  given: GivenRecord,
): Promise<StoredRecord> {
  return await addRecord(deps, by, { kind: 'group', parent: compositeApp }, given, {
    beside: (trx, path) =>
      appendAction(trx, { owner: path, state: 'Created', instance: '' }, { actor: by.actor, now: deps.clock() }),
  });
}

/** Approves, instantiates, terminates or stops a group. Throws what its table and its checks refuse with. */
export async function callGroup(
  deps: LifecycleDependencies,
  by: Acting,
  call: Exclude<GroupCall, 'delete'>,
  place: GroupPlace,
): Promise<AcceptedCall> {
  const written = { actor: by.actor, operation: by.operation ?? null, now: deps.clock() };
  const accepted = await deps.db.transaction().execute(async (trx) => {
    await holdGroup(trx, place.path);
    const before = await findActionOf(trx, place.path, written.operation);
    return before ?? (await callGroupIn(trx, call, place, written));
  });
  if (accepted.instance !== '') await deps.tell([wantedContext(accepted.instance)]);
  return accepted;
}

/** The same in a transaction; Temporal is to be told of the instance, where there is one, once it is committed. */
export async function callGroupIn(
  trx: Db,
  call: Exclude<GroupCall, 'delete'>,
  { path, compositeApp }: GroupPlace,
  written: { actor: string | null; operation?: string | null; now: Date },
): Promise<AcceptedCall> {
  const group = await holdGroup(trx, path);
  const standing = await standingOf(trx, path);
  const step = stepOfGroup(call, standing);
  if (step === 'nothing' || step === 'delete') return { state: standing.state, instance: '' };
  if ((call === 'approve' || call === 'instantiate') && (await isRemoved(trx, path))) {
    throw musterError('invalid_state', `Deployment intent group '${nameInPath(path)}' is being removed`);
  }
  const instance = (await work(trx, call, { group, compositeApp, standing }, written)) ?? '';
  await appendAction(trx, { owner: path, state: step.state, instance }, written);
  return { state: step.state, instance };
}

/** Does what a call asks of AppContexts. Returns the one that the history names; null without one. */
async function work(
  trx: Db,
  call: Exclude<GroupCall, 'delete'>,
  { group, compositeApp, standing }: { group: RecordRow; compositeApp: string; standing: Standing },
  written: { actor: string | null; now: Date },
): Promise<string | null> {
  if (call === 'approve') return null;
  if (call === 'instantiate') {
    await renewCloud(trx, group.path, written);
    return (await freezeGroup(trx, group, compositeApp, written)).id;
  }
  const { instance } = standing;
  if (instance === null) throw new Error(`${group.path} is ${standing.state} without an AppContext`);
  if (call === 'terminate') await terminateContext(trx, instance, written.now);
  else await stopContext(trx, instance, written.now);
  return instance;
}

/** Removes a group with all its AppContexts. Throws `has_children` while it has intents, unless these are removed too. */
export async function removeGroup(
  { db }: Pick<LifecycleDependencies, 'db'>,
  path: string,
  { cascade }: { cascade: boolean },
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await holdGroup(trx, path);
    stepOfGroup('delete', await standingOf(trx, path));
    if (cascade) await deleteBelow(trx, path);
    if (await isParent(trx, path)) {
      throw musterError('has_children', `Deployment intent group '${nameInPath(path)}' has intents: delete them first`);
    }
    await deleteRecord(trx, path);
  });
}

/** Adds an intent of a group, which is approved no more. Throws `invalid_state`, `context_busy`. */
export async function addIntent(
  deps: LifecycleDependencies,
  by: Acting,
  place: { kind: RecordKind; parent: string; group: string },
  given: GivenRecord,
): Promise<StoredRecord> {
  const { group, ...rest } = place;
  return await addRecord(deps, by, rest, given, {
    before: async (trx) => void (await holdGroup(trx, group)),
    beside: (trx) => noteChange(deps, trx, by, group),
  });
}

/** Removes an intent of a group, which is approved no more. Throws `invalid_state`, `context_busy`, `has_children`. */
export async function removeIntent(
  deps: LifecycleDependencies,
  by: Acting,
  { kind, path, group }: { kind: RecordKind; path: string; group: string },
): Promise<void> {
  await removeRecord(deps, kind, path, { before: (trx) => noteChange(deps, trx, by, group) });
}

async function noteChange(
  { clock }: Pick<LifecycleDependencies, 'clock'>,
  trx: Db,
  by: Acting,
  group: string,
): Promise<void> {
  await holdGroup(trx, group);
  if (!changeOfIntent(await standingOf(trx, group))) return;
  await appendAction(trx, { owner: group, state: 'Created', instance: '' }, { actor: by.actor, now: clock() });
}

/** Holds a group until the transaction ends. Throws `not_found`. */
export async function holdGroup(trx: Db, path: string): Promise<RecordRow> {
  const group = await holdRecord(trx, { kind: 'group', path }, 'update');
  if (group === null) throw recordNotFound('group', path);
  return group;
}
