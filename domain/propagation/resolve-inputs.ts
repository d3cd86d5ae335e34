/**
 * Values of inputs. Nothing is copied along connections: a value is read by following them to where it comes from. Chains may be long,
 * so the walk keeps a stack of its own.
 */
import type { Address } from './address.ts';
import type { InputKind } from './input-kind.ts';

export interface ResolvableResource {
  name: string;
  /** Own values. */
  inputs: Readonly<Record<string, unknown>>;
  kinds: Readonly<Record<string, InputKind>>;
}

export interface InputConnection {
  emitter: string;
  emitter_input: string;
  receiver: string;
  to: Address;
}

export interface ResolveModel {
  resource(name: string): ResolvableResource | undefined;
  /** Connections into an input, in the order in which they were made. */
  into(resource: string, input: string): readonly InputConnection[];
}

/** Returns a model of resources and of the connections among them, which are in the order in which they were made. */
export function modelOf(resources: Iterable<ResolvableResource>, connections: Iterable<InputConnection>): ResolveModel {
  const byName = new Map([...resources].map((resource) => [resource.name, resource]));
  const into = new Map<string, InputConnection[]>();
  for (const connection of connections) {
    const place = placeOf(connection.receiver, connection.to.input);
    const known = into.get(place);
    if (known === undefined) into.set(place, [connection]);
    else known.push(connection);
  }
  return { resource: (name) => byName.get(name), into: (name, input) => into.get(placeOf(name, input)) ?? [] };
}

/** Names have no line break. */
const placeOf = (resource: string, input: string) => `${resource}\n${input}`;

interface Place {
  resource: string;
  input: string;
}

export interface Resolver {
  /** Returns the value of an input. */
  value(resource: string, input: string): unknown;
  /** Returns the values of all inputs of a resource. */
  inputs(resource: string): Record<string, unknown>;
}

/** Returns a reader of values. Each value is worked out once. Inputs that depend on themselves make it throw. */
export function resolver(model: ResolveModel): Resolver {
  const known = new Map<string, unknown>();

  function value(resource: string, input: string): unknown {
    const wanted = placeOf(resource, input);
    if (known.has(wanted)) return known.get(wanted);
    const open = new Set<string>();
    const stack: Place[] = [{ resource, input }];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const place = placeOf(top.resource, top.input);
      const sources = model.into(top.resource, top.input);
      const missing = sources.filter((one) => !known.has(placeOf(one.emitter, one.emitter_input)));
      if (known.has(place)) stack.pop();
      else if (missing.length === 0) {
        known.set(place, joined(top, sources));
        stack.pop();
      } else {
        if (open.has(place)) throw new Error(`input ${top.input} of resource ${top.resource} depends on itself`);
        open.add(place);
        for (const one of missing) stack.push({ resource: one.emitter, input: one.emitter_input });
      }
    }
    return known.get(wanted);
  }

  /** The value of an input whose sources are known. */
  function joined({ resource, input }: Place, sources: readonly InputConnection[]): unknown {
    const holder = model.resource(resource);
    const own = holder !== undefined && Object.hasOwn(holder.inputs, input) ? (holder.inputs[input] ?? null) : null;
    const values = sources.map((one) => known.get(placeOf(one.emitter, one.emitter_input)) ?? null);
    const [source] = sources;
    if (source === undefined) return own;
    const kind = holder?.kinds[input] ?? 'simple';
    if (kind === 'list') {
      const isList = ['list', 'list_hash'].includes(model.resource(source.emitter)?.kinds[source.emitter_input] ?? '');
      return sources.length === 1 && isList ? values[0] : values;
    }
    if (kind !== 'hash' || source.to.key === null) return values.at(-1);
    const members = sources.map((one, index) => [one.to.key ?? '', values[index]] as const);
    return Object.fromEntries([...Object.entries(isObject(own) ? own : {}), ...members]);
  }

  return {
    value,
    inputs: (name) =>
      Object.fromEntries(
        Object.keys(model.resource(name)?.kinds ?? {})
          .sort()
          .map((input) => [input, value(name, input)]),
      ),
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
