/** Own values of a resource's inputs: what a new resource begins with, what an edit sets, and what does not fit. */
import { musterError } from '../errors.ts';
import { mistakesOf } from './compact-schema.ts';
import type { InputDefinition } from './definition-schema.ts';
import { checkValues } from './freeze.ts';
import { OWN_ID } from './read-definition.ts';
import { isSecretReference, secretReference } from './secret-reference.ts';

export type InputDefinitions = Readonly<Record<string, InputDefinition>>;

/** The location of a component: it follows the input `id`. */
export const COMPONENT_LOCATION = 'component:$id';

/**
 * Returns the own values of a new resource: those that are given, else the defaults.
 * Throws `input_unknown`, `secret_by_reference`, `secret_not_allowed`, `value_too_large`, `validation_failed`.
 * @param newId makes an id for `$uuid`
 */
export function newInputs(
  definitions: InputDefinitions,
  given: Readonly<Record<string, unknown>>,
  newId: () => string,
): Record<string, unknown> {
  const set = checkedInputs(definitions, given);
  const values = Object.entries(definitions).map(([input, { value, secret }]) => {
    if (Object.hasOwn(set, input)) return [input, set[input]];
    if (secret) return [input, secretReference(value, input)];
    return [input, value === OWN_ID ? newId() : structuredClone(value)];
  });
  return located(definitions, Object.fromEntries(values), set);
}

/**
 * Returns the own values after an edit.
 * Throws as `newInputs`.
 */
export function editedInputs(
  definitions: InputDefinitions,
  own: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const set = checkedInputs(definitions, given);
  return located(definitions, Object.fromEntries([...Object.entries(own), ...Object.entries(set)]), set);
}

function located(
  definitions: InputDefinitions,
  values: Record<string, unknown>,
  set: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  if (definitions.location_id?.value !== COMPONENT_LOCATION || Object.hasOwn(set, 'location_id')) return values;
  const { id, location_id } = values;
  if (location_id !== COMPONENT_LOCATION && !Object.hasOwn(set, 'id')) return values;
  return { ...values, location_id: typeof id === 'string' && id !== '' ? `component:${id}` : '' };
}

function checkedInputs(
  definitions: InputDefinitions,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const set = Object.entries(given).map(([input, value]) => {
    const definition = Object.hasOwn(definitions, input) ? definitions[input] : undefined;
    if (definition === undefined) {
      throw musterError('input_unknown', `There is no input ${input.slice(0, 300)}`, `inputs.${input.slice(0, 300)}`);
    }
    return [input, definition.secret ? secretReference(value, input) : value] as const;
  });
  const values = Object.fromEntries(set);
  checkValues(values);
  return values;
}

/** Returns what the values of a resource have wrong, by input; an input that fits has no entry. */
export function inputMistakes(
  definitions: InputDefinitions,
  resolved: Readonly<Record<string, unknown>>,
): Record<string, string[]> {
  const found = Object.entries(definitions).map(([input, { schema, secret }]) => {
    const value = resolved[input] ?? null;
    if (!secret) return [input, mistakesOf(schema, value)] as const;
    if (value === null) return [input, schema === 'str!' ? ['must refer to a secret'] : []] as const;
    return [input, isSecretReference(value) ? [] : ['must be a reference to a secret']] as const;
  });
  return Object.fromEntries(found.filter(([, mistakes]) => mistakes.length > 0));
}
