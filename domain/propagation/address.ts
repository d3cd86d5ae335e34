/** The place in a resource that a connection fills: `input`, or `input:key` for one member of an object. */
import { musterError } from '../errors.ts';
import { isInputName } from './resource-name.ts';

export interface Address {
  input: string;
  /** Member of an object; null for the whole input. */
  key: string | null;
}

/** What connections to members of one object are grouped under. */
export const SINGLE_TAG = '_single';

const KEY = /^[^\s:|]{1,253}$/;

/**
 * Reads the address of a receiver.
 * Throws `validation_failed`, and `not_supported` for a tag.
 */
export function parseAddress(text: string, field: string): Address {
  const [path = '', tag] = split(text, '|');
  const [input = '', key = null] = split(path, ':');
  if (!isInputName(input) || (key !== null && !KEY.test(key))) {
    throw musterError(
      'validation_failed',
      `${JSON.stringify(text.slice(0, 300))} is no address of an input: it must have the form input or input:key`,
      field,
    );
  }
  if (tag !== undefined) {
    throw musterError('not_supported', `A tag in an address (${text.slice(0, 300)}) is not supported`, field);
  }
  return { input, key };
}

function split(text: string, sign: string): [string, string?] {
  const at = text.indexOf(sign);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** Returns the address as diffs and answers show it; a member has its tag behind it. */
export function renderAddress({ input, key }: Address): string {
  return key === null ? input : `${input}:${key}|${SINGLE_TAG}`;
}
