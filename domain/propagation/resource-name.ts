/** Names of resources, definitions, repositories, inputs and actions. A name never becomes a path or the id of a workflow. */
import { musterError } from '../errors.ts';

const RESOURCE = /^[A-Za-z0-9_][A-Za-z0-9_./-]{0,252}$/;
const DEFINITION = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const INPUT = /^[A-Za-z_][A-Za-z0-9_-]{0,127}$/;
const ACTION = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** Whether a text can be the name of a resource: dots are allowed, and slashes between segments that are no `.` and no `..`. */
export function isResourceName(text: string): boolean {
  return RESOURCE.test(text) && text.split('/').every((segment) => !['', '.', '..'].includes(segment));
}

/** Whether a text can be the name of a repository, or of a definition in it. */
export function isDefinitionName(text: string): boolean {
  return DEFINITION.test(text) && !text.endsWith('.yaml');
}

/** Whether a text can be the name of an input; connections write it before `:` and `|`. */
export function isInputName(text: string): boolean {
  return INPUT.test(text);
}

/** Whether a text can be the name of an action. */
export function isActionName(text: string): boolean {
  return ACTION.test(text);
}

/**
 * Returns the name, which can be a resource's.
 * Throws `validation_failed`.
 */
export function resourceName(text: string): string {
  if (isResourceName(text)) return text;
  throw musterError(
    'validation_failed',
    `${JSON.stringify(text.slice(0, 300))} cannot be the name of a resource: it has 1 to 253 of A-Z, a-z, 0-9, _, ., / and -, begins with a letter, a digit or _, and has no empty, . or .. segment between slashes`,
    'name',
  );
}
