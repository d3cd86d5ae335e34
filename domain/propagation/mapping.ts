/** Which inputs a connection joins: those that a caller names, and the pairs that say where a resource is and how it is reached. */
import { musterError } from '../errors.ts';
import { type Address, parseAddress, renderAddress } from './address.ts';
import type { InputKind } from './input-kind.ts';
import { isInputName } from './resource-name.ts';

/** `['ip']`: inputs of one name; `{ip: 'host'}` or `{ip: ['host', 'env:HOST']}`: from an input of the emitter to addresses of the receiver. */
export type Mapping = readonly string[] | Readonly<Record<string, string | readonly string[]>>;

export interface MappedPair {
  from: string;
  to: Address;
}

/** Inputs that are connected with every mapping, where the emitter has a value and the receiver has none. */
export const AUTOMATIC_INPUTS = ['location_id', 'transports_id'] as const;

/**
 * Returns the pairs of a mapping, each once.
 * Throws `not_supported` where there is no mapping, `validation_failed` for a name that is none.
 */
export function pairsOf(mapping: Mapping | undefined): MappedPair[] {
  if (mapping === undefined) {
    throw musterError(
      'not_supported',
      'A connection without a mapping (every input that both have) is not supported: name the inputs, or give an empty mapping',
      'mapping',
    );
  }
  const written = Array.isArray(mapping)
    ? (mapping as readonly string[]).map((name) => [name, name] as const)
    : Object.entries(mapping as Record<string, string | string[]>).flatMap(([from, to]) =>
        (typeof to === 'string' ? [to] : to).map((one) => [from, one] as const),
      );
  const pairs = new Map<string, MappedPair>();
  for (const [from, to] of written) {
    if (!isInputName(from)) {
      throw musterError('validation_failed', `${JSON.stringify(from.slice(0, 300))} is no name of an input`, 'mapping');
    }
    const address = parseAddress(to, 'mapping');
    pairs.set(`${from} ${renderAddress(address)}`, { from, to: address });
  }
  return [...pairs.values()];
}

/** What an input is, as far as connections ask. */
export interface ConnectableInput {
  kind: InputKind;
  secret: boolean;
}

/**
 * Whether a value may go from an input of the emitter to an address of the receiver.
 * Throws `validation_failed`, `secret_by_reference`, `not_supported`.
 */
export function checkPair(pair: MappedPair, emitter: ConnectableInput, receiver: ConnectableInput): void {
  const address = pair.to.key === null ? pair.to.input : `${pair.to.input}:${pair.to.key}`;
  if (receiver.kind === 'list_hash') {
    throw musterError(
      'not_supported',
      `${address} is a list of objects: connections to it are not supported`,
      'mapping',
    );
  }
  if (pair.to.key !== null && receiver.kind !== 'hash') {
    throw musterError('validation_failed', `${address} names a member, and ${pair.to.input} is no object`, 'mapping');
  }
  if (pair.to.key === null && receiver.kind === 'hash' && emitter.kind !== 'hash') {
    throw musterError(
      'validation_failed',
      `${pair.to.input} is an object and ${pair.from} is none: name the member that it fills, as ${pair.to.input}:KEY`,
      'mapping',
    );
  }
  if (emitter.secret !== receiver.secret) {
    const [secret, plain] = emitter.secret ? [pair.from, pair.to.input] : [pair.to.input, pair.from];
    throw musterError(
      'secret_by_reference',
      `Input ${secret} is secret and input ${plain} is not: both must be secret`,
      'mapping',
    );
  }
}

/**
 * Whether a new connection takes the place of an old one to the same input. An input of one value has one connection, a list has any
 * number, an object has one for the whole or one for each member.
 */
export function replaces(kind: InputKind, added: Address, old: Address): boolean {
  if (added.input !== old.input) return false;
  if (kind === 'simple') return true;
  if (kind !== 'hash') return false;
  return added.key === null || old.key === null || added.key === old.key;
}
