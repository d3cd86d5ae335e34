import { randomUUID } from 'node:crypto';
import { type MusterError, musterError } from '../../domain/errors.ts';
import type { Address } from '../../domain/propagation/address.ts';
import type { EventPolicy } from '../../domain/propagation/default-events.ts';
import type { GivenEvent } from '../../domain/propagation/event-schema.ts';
import { cyclePath } from '../../domain/propagation/input-cycle.ts';
import {
  AUTOMATIC_INPUTS,
  checkPair,
  type MappedPair,
  type Mapping,
  pairsOf,
  replaces,
} from '../../domain/propagation/mapping.ts';
import {
  type ConnectionRow,
  deleteConnections,
  findConnectionsIntoInput,
  findConnectionsOfPair,
  findSourcesOfInput,
  insertConnection,
} from '../../store/propagation/connections.ts';
import type { EventRow } from '../../store/propagation/resource-events.ts';
import type { ResourceRow } from '../../store/propagation/resources.ts';
import { addDefaultEvents, addUserEvents } from './connection-events.ts';
import { addressOf, readInputValue } from './current-resources.ts';
import type { ConnectDependencies, ModelWrite } from './dependencies.ts';
import { forgetConnections } from './disconnect.ts';
import { editable, stageEdited } from './stage-edit.ts';
import { writeJoined } from './write-model.ts';

export interface NewConnection {
  emitter: string;
  receiver: string;
  mapping: Mapping | undefined;
  /** Which events the connection makes, or a list of events in their place; default: those of the installation. */
  events?: EventPolicy | readonly GivenEvent[] | undefined;
}

export interface Connected {
  /** Connections of the mapping, those that were there already too. */
  connections: ConnectionRow[];
  events: EventRow[];
}

/**
 * Connects inputs of one resource to inputs of another, adds the events of the connection, and stages the receiver where its connections
 * have changed. A place that has room for one connection keeps the new one.
 * Throws `unknown_resource`, `input_unknown`, `self_connection`, `input_cycle`, `validation_failed`, `secret_by_reference`,
 * `not_supported`, and what events are refused with.
 */
export async function connect(deps: ConnectDependencies, wanted: NewConnection): Promise<Connected> {
  const named = pairsOf(wanted.mapping);
  const { events = deps.eventPolicy ?? 'full' } = wanted;
  return writeJoined(deps, async (write) => {
    const [emitter, receiver] = await endsOf(write, wanted.emitter, wanted.receiver);
    const automatic = await automaticPairs(write, emitter, receiver, named);
    const policy = typeof events === 'string' ? events : 'none';
    let changed = false;
    for (const pair of [...named, ...automatic]) {
      checkPair(pair, inputOf(emitter, pair.from), inputOf(receiver, pair.to.input));
      if (await joinPair(write, emitter, receiver, pair, policy)) changed = true;
    }
    if (changed) await stageEdited(write, [receiver.name]);
    const connections = await ofMapping(write, emitter, receiver, [...named, ...automatic]);
    const [first] = connections;
    const added =
      typeof events === 'string'
        ? await addDefaultEvents(write, { emitter, receiver, policy, connection: first })
        : await addUserEvents(write, events);
    return { connections, events: added };
  });
}

async function endsOf(write: ModelWrite, from: string, to: string): Promise<[ResourceRow, ResourceRow]> {
  const found = new Map<string, ResourceRow>();
  // In one order, as all who lock resources.
  for (const name of [...new Set([from, to])].sort()) found.set(name, await known(write, name));
  const [emitter, receiver] = [found.get(from), found.get(to)];
  if (emitter === undefined || receiver === undefined) throw unknownResource(from);
  return [emitter, receiver];
}

async function known(write: ModelWrite, name: string): Promise<ResourceRow> {
  try {
    return await editable(write, name);
  } catch (error) {
    if ((error as Partial<MusterError>).code === 'resource_not_found') throw unknownResource(name);
    throw error;
  }
}

function unknownResource(name: string): MusterError {
  return musterError('unknown_resource', `There is no resource ${name.slice(0, 300)}`);
}

function inputOf({ name, meta_inputs }: ResourceRow, input: string) {
  const definition = Object.hasOwn(meta_inputs, input) ? meta_inputs[input] : undefined;
  if (definition !== undefined) return definition;
  throw musterError('input_unknown', `Resource ${name} has no input ${input}`, 'mapping');
}

/** Place and transport go with every mapping, where the emitter has a value, the receiver has none, and no cycle would close. */
async function automaticPairs(
  write: ModelWrite,
  emitter: ResourceRow,
  receiver: ResourceRow,
  named: readonly MappedPair[],
): Promise<MappedPair[]> {
  if (emitter.name === receiver.name) return [];
  const pairs: MappedPair[] = [];
  for (const input of AUTOMATIC_INPUTS) {
    if (named.some(({ to }) => to.input === input)) continue;
    if (![emitter, receiver].every((end) => isPlainValue(end, input))) continue;
    if ((await findConnectionsIntoInput(write.trx, receiver.name, input)).length > 0) continue;
    if (!isNothing(await readInputValue(write.trx, receiver.name, input))) continue;
    if (isNothing(await readInputValue(write.trx, emitter.name, input))) continue;
    const pair = { from: input, to: { input, key: null } };
    if ((await cycleOf(write, emitter.name, receiver.name, pair)) === null) pairs.push(pair);
  }
  return pairs;
}

/** A definition may have given the input another form: then there is nothing to take along. */
function isPlainValue({ meta_inputs }: ResourceRow, input: string): boolean {
  return meta_inputs[input]?.kind === 'simple' && !meta_inputs[input].secret;
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined || value === '';
}

/** Returns whether the connections of the receiver are others now. */
async function joinPair(
  write: ModelWrite,
  emitter: ResourceRow,
  receiver: ResourceRow,
  pair: MappedPair,
  policy: EventPolicy,
): Promise<boolean> {
  const { from, to } = pair;
  if (emitter.name === receiver.name && from === to.input) {
    throw musterError('self_connection', `Input ${from} of ${emitter.name} cannot be connected to itself`, 'mapping');
  }
  const cycle = await cycleOf(write, emitter.name, receiver.name, pair);
  if (cycle !== null) {
    const path = cycle.length > 12 ? [...cycle.slice(0, 6), `${cycle.length - 11} more`, ...cycle.slice(-5)] : cycle;
    const text = `Input ${to.input} of ${receiver.name} would depend on itself: ${path.join(' -> ')}`;
    throw musterError('input_cycle', text, 'mapping', [{ code: 'input_cycle', message: text, names: cycle }]);
  }
  const kind = inputOf(receiver, to.input).kind;
  const old = (await findConnectionsIntoInput(write.trx, receiver.name, to.input)).filter((row) =>
    replaces(kind, to, addressOf(row)),
  );
  const isSame = (row: ConnectionRow) =>
    row.emitter === emitter.name && row.emitter_input === from && sameAddress(row, to);
  const replaced = old.filter((row) => !isSame(row));
  await deleteConnections(
    write.trx,
    replaced.map(({ id }) => id),
  );
  await forgetConnections(write, replaced, false);
  const inserted = await insertConnection(write.trx, {
    id: randomUUID(),
    emitter: emitter.name,
    emitter_input: from,
    receiver: receiver.name,
    receiver_input: to.input,
    receiver_key: to.key ?? '',
    policy,
    created_at: write.now,
    actor: write.actor,
  });
  return inserted || replaced.length > 0;
}

function sameAddress(row: ConnectionRow, to: Address): boolean {
  return row.receiver_input === to.input && row.receiver_key === (to.key ?? '');
}

/** Looks upwards from the emitter's input: what it depends on is all that can close a cycle. */
async function cycleOf(write: ModelWrite, emitter: string, receiver: string, { from, to }: MappedPair) {
  const sources = await findSourcesOfInput(write.trx, emitter, from);
  const edges = sources.map((row) => ({
    from: { resource: row.emitter, input: row.emitter_input },
    to: { resource: row.receiver, input: row.receiver_input },
  }));
  return cyclePath(edges, {
    from: { resource: emitter, input: from },
    to: { resource: receiver, input: to.input },
  });
}

async function ofMapping(
  write: ModelWrite,
  emitter: ResourceRow,
  receiver: ResourceRow,
  pairs: readonly MappedPair[],
): Promise<ConnectionRow[]> {
  const rows = await findConnectionsOfPair(write.trx, emitter.name, receiver.name);
  return rows.filter((row) => pairs.some(({ from, to }) => row.emitter_input === from && sameAddress(row, to)));
}
