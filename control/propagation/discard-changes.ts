/** Staged changes that a user gives up. */
import { randomUUID } from 'node:crypto';
import { type MusterError, musterError } from '../../domain/errors.ts';
import { parseAddress } from '../../domain/propagation/address.ts';
import type { EventPolicy } from '../../domain/propagation/default-events.ts';
import { discardOf } from '../../domain/propagation/item-state.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import { findConnectionsInto, insertConnection } from '../../store/propagation/connections.ts';
import {
  type CommittedRow,
  findCommitted,
  findResource,
  lockResource,
  type ResourceRow,
  updateResource,
} from '../../store/propagation/resources.ts';
import { discardItems, findItems, listItems, type StagedItemRow } from '../../store/propagation/staged-items.ts';
import { addDefaultEvents } from './connection-events.ts';
import { tupleOf } from './current-resources.ts';
import type { ConnectDependencies, ModelWrite } from './dependencies.ts';
import { removeConnections } from './disconnect.ts';
import { deleteWhole } from './remove-resource.ts';
import { restage } from './stage-changes.ts';
import { refusePlanned, stageEdited } from './stage-edit.ts';
import { writeJoined } from './write-model.ts';

/**
 * Discards staged items, all or those of these uids, and puts back what they stood for: inputs and connections for `update`, the state for
 * `remove`, nothing at all for the first `run`, whose resource is deleted. Returns the discarded items.
 * Throws `change_not_found`, `item_in_plan`.
 */
export async function discardChanges(
  deps: ConnectDependencies,
  uids: 'all' | readonly string[],
): Promise<StagedItemRow[]> {
  return writeJoined(deps, async (write) => {
    const items = uids === 'all' ? await listItems(write.trx) : await chosenItems(write, uids);
    refusePlanned(items);
    await discardItems(
      write.trx,
      items.map(({ uid }) => uid),
    );
    for (const item of items) await putBack(write, item, deps.eventPolicy ?? 'full');
    await settle(
      write,
      items.map(({ resource }) => resource),
    );
    return items;
  });
}

/** Putting connections back stages their receivers once more. What has come to nothing by that goes again. */
async function settle(write: ModelWrite, resources: readonly string[]): Promise<void> {
  const ofThese = (item: StagedItemRow) => resources.includes(item.resource);
  await restage(write, (await listItems(write.trx)).filter(ofThese), []);
  const left = (await listItems(write.trx)).filter(ofThese);
  await stageEdited(
    write,
    left.map(({ resource }) => resource),
  );
}

async function chosenItems({ trx }: ModelWrite, uids: readonly string[]): Promise<StagedItemRow[]> {
  const malformed = uids.find((uid) => !isUuid(uid));
  if (malformed !== undefined) throw changeNotFound(malformed);
  const items = await findItems(trx, uids);
  const missing = uids.find((uid) => !items.some((item) => item.uid === uid.toLowerCase()));
  if (missing !== undefined) throw changeNotFound(missing);
  return items;
}

export function changeNotFound(uid: string): MusterError {
  return musterError('change_not_found', `There is no change ${uid.slice(0, 300)}`);
}

async function putBack(write: ModelWrite, { resource, action }: StagedItemRow, policy: EventPolicy): Promise<void> {
  const row = await lockResource(write.trx, resource);
  if (row === null) return;
  const committed = (await findCommitted(write.trx, [resource])).get(resource);
  const discard = discardOf(action, committed?.state ?? null);
  if (discard === 'delete resource') await deleteWhole(write, row);
  if (discard === 'restore state') {
    const state = row.state_before ?? 'operational';
    await updateResource(write.trx, resource, { state, state_before: null }, write.now, write.actor);
    // The removal has dropped what was staged of it.
    if (state !== 'operational') await stageEdited(write, [resource]);
  }
  if (discard === 'restore committed' && committed !== undefined) await restore(write, row, committed, policy);
}

async function restore(
  write: ModelWrite,
  row: ResourceRow,
  committed: CommittedRow,
  policy: EventPolicy,
): Promise<void> {
  const { trx, now, actor } = write;
  const wanted = new Set(committed.connections.map((tuple) => tuple.join(' ')));
  const present = await findConnectionsInto(trx, [row.name]);
  const surplus = present.filter((connection) => !wanted.has(tupleOf(connection).join(' ')));
  await removeConnections(write, surplus, false);
  const there = new Set(present.map((connection) => tupleOf(connection).join(' ')));
  for (const tuple of committed.connections) {
    if (!there.has(tuple.join(' '))) await reconnect(write, row, tuple, policy);
  }
  const inputs = ownInputs(row, committed, await findConnectionsInto(trx, [row.name]));
  const state = row.state === 'removed' ? row.state : 'operational';
  await updateResource(trx, row.name, { inputs, state }, now, actor);
}

/** A connection whose emitter is gone stays away. The others have the events of the installation. */
async function reconnect(
  write: ModelWrite,
  receiver: ResourceRow,
  tuple: readonly string[],
  policy: EventPolicy,
): Promise<void> {
  const [from = '', emitter_input = '', , address = ''] = tuple;
  const emitter = await findResource(write.trx, from);
  if (emitter === null) return;
  const { input, key } = parseAddress(address.replace(/\|.*$/, ''), 'mapping');
  const connection = {
    id: randomUUID(),
    emitter: from,
    emitter_input,
    receiver: receiver.name,
    receiver_input: input,
    receiver_key: key ?? '',
    policy,
    created_at: write.now,
    actor: write.actor,
  };
  if (!(await insertConnection(write.trx, connection))) return;
  await addDefaultEvents(write, { emitter, receiver, policy, connection: { ...connection, place: 0 } });
}

/** Committed values are what was resolved: what connections supply is left out, and keeps the own value that lies under it. */
function ownInputs(
  row: ResourceRow,
  committed: CommittedRow,
  connections: readonly { receiver_input: string; receiver_key: string }[],
): Record<string, unknown> {
  const own = Object.entries(row.inputs).map(([input, value]) => {
    const into = connections.filter(({ receiver_input }) => receiver_input === input);
    if (!Object.hasOwn(committed.inputs, input) || into.some(({ receiver_key }) => receiver_key === ''))
      return [input, value];
    const members = new Set(into.map(({ receiver_key }) => receiver_key));
    return [input, members.size === 0 ? committed.inputs[input] : overlaid(value, committed.inputs[input], members)];
  });
  return Object.fromEntries(own);
}

function overlaid(own: unknown, committed: unknown, members: ReadonlySet<string>): unknown {
  const kept = Object.entries(own ?? {}).filter(([key]) => members.has(key));
  const restored = Object.entries(committed ?? {}).filter(([key]) => !members.has(key));
  return Object.fromEntries([...restored, ...kept]);
}
