/** Resources as they are now: their values along the connections, and what leads into them. */
import { type Address, renderAddress } from '../../domain/propagation/address.ts';
import type { InputKind } from '../../domain/propagation/input-kind.ts';
import {
  type InputConnection,
  modelOf,
  type ResolvableResource,
  resolver,
} from '../../domain/propagation/resolve-inputs.ts';
import type { CommittedResource, ConnectionTuple, CurrentResource } from '../../domain/propagation/stage.ts';
import type { Db } from '../../store/connection/database.ts';
import { type ConnectionRow, findSources, findSourcesOfInput } from '../../store/propagation/connections.ts';
import {
  type CommittedRow,
  findOwnValues,
  findResources,
  type OwnValue,
  type ResourceRow,
} from '../../store/propagation/resources.ts';

/** Returns where a stored connection leads. */
export function addressOf({ receiver_input, receiver_key }: ConnectionRow): Address {
  return { input: receiver_input, key: receiver_key === '' ? null : receiver_key };
}

/** Returns a stored connection as diffs show it. */
export function tupleOf(row: ConnectionRow): ConnectionTuple {
  return [row.emitter, row.emitter_input, row.receiver, renderAddress(addressOf(row))];
}

/** Returns the path by which items name the definition of a resource. */
export function basePathOf({ repository, definition, version }: ResourceRow): string {
  return `${repository}/${definition}/${version}`;
}

export interface CurrentResources {
  rows: Map<string, ResourceRow>;
  current: Map<string, CurrentResource>;
  /** Connections into the resources that were asked for. */
  into: Map<string, ConnectionRow[]>;
}

/** Reads resources with their values. Only what hands a value on to them is read besides. What is `gone` hands nothing on. */
export async function readCurrent(
  db: Db,
  names: readonly string[],
  gone: ReadonlySet<string> = new Set(),
): Promise<CurrentResources> {
  const wanted = new Set(names);
  const sources = (await findSources(db, names)).filter(({ emitter }) => !gone.has(emitter));
  const found = await findResources(db, names);
  const handedOn = new Map(
    sources
      .filter(({ emitter }) => !wanted.has(emitter))
      .map(({ emitter, emitter_input }) => [
        `${emitter}::${emitter_input}`,
        { resource: emitter, input: emitter_input },
      ]),
  );
  const emitters = await findOwnValues(db, [...handedOn.values()]);
  const known = [...found.map(resolvable), ...emittersOf(emitters)];
  const values = resolver(modelOf(known, sources.map(inputConnection)));
  const rows = new Map(found.map((row) => [row.name, row]));
  const into = new Map<string, ConnectionRow[]>();
  for (const row of sources) {
    if (!wanted.has(row.receiver)) continue;
    const known = into.get(row.receiver);
    if (known === undefined) into.set(row.receiver, [row]);
    else known.push(row);
  }
  const current = [...rows.values()].map((row): [string, CurrentResource] => [
    row.name,
    {
      name: row.name,
      state: row.state,
      resolved: values.inputs(row.name),
      connections: (into.get(row.name) ?? []).map(tupleOf),
      tags: row.tags,
      base_path: basePathOf(row),
    },
  ]);
  return { rows, current: new Map(current), into };
}

function resolvable({ name, inputs, meta_inputs }: ResourceRow): ResolvableResource {
  const kinds = Object.entries(meta_inputs).map(([input, { kind }]) => [input, kind]);
  return { name, inputs, kinds: Object.fromEntries(kinds) };
}

/** Reads the value of one input along its connections, and nothing else. */
export async function readInputValue(db: Db, resource: string, input: string): Promise<unknown> {
  const sources = await findSourcesOfInput(db, resource, input);
  const places = new Map([[`${resource}::${input}`, { resource, input }]]);
  for (const row of sources) {
    places.set(`${row.emitter}::${row.emitter_input}`, { resource: row.emitter, input: row.emitter_input });
  }
  const known = emittersOf(await findOwnValues(db, [...places.values()]));
  return resolver(modelOf(known, sources.map(inputConnection))).value(resource, input);
}

/** Emitters, as far as their values are handed on. */
function emittersOf(values: readonly OwnValue[]): ResolvableResource[] {
  const emitters = new Map<string, { inputs: Record<string, unknown>; kinds: Record<string, InputKind> }>();
  for (const { resource, input, value, kind } of values) {
    const emitter = emitters.get(resource) ?? { inputs: {}, kinds: {} };
    emitter.inputs[input] = value;
    emitter.kinds[input] = kind;
    emitters.set(resource, emitter);
  }
  return [...emitters].map(([name, emitter]) => ({ name, ...emitter }));
}

function inputConnection(row: ConnectionRow): InputConnection {
  return { emitter: row.emitter, emitter_input: row.emitter_input, receiver: row.receiver, to: addressOf(row) };
}

/** Returns a committed record in the form of the rules. */
export function committedOf(row: CommittedRow | undefined): CommittedResource | undefined {
  if (row === undefined) return undefined;
  const { inputs, connections, tags, base_path, state } = row;
  return { inputs, connections, tags, base_path, state };
}
