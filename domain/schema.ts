/** Pieces that the schemas of all lanes share. */
import { z } from 'zod';

/** The message of a property that only the server sets (cfs-api 2); the API gives it its own code. */
export const READ_ONLY_MESSAGE = 'Property is read-only';

/** A member that answers show and requests must not have. */
export const readOnly = z.never({ error: READ_ONLY_MESSAGE }).optional().meta({ readOnly: true });

/** A string of `min` to `max` characters, counted as JSON Schema does: code points, not UTF-16 units. */
export function text(min: number, max: number): z.ZodString {
  return z
    .string()
    .refine((value) => value.length >= min && (value.length <= max || [...value].length <= max), {
      error: `must have ${min} to ${max} characters`,
    })
    .meta({ minLength: min, maxLength: max });
}

/**
 * Longest key of a record, in characters: an index entry of Postgres holds 2,700 bytes. CFS names no limit, so it is far
 * above what any client uses.
 */
export const KEY_MAX = 600;

/** Text without white space and without `;`, as CFS demands of URLs, branches and playbooks. */
export const NO_BLANK = /^[^\s;]*$/;
export const NO_BLANK_MESSAGE = 'must not contain white space or ;';
export const word = z.string().regex(NO_BLANK, NO_BLANK_MESSAGE);

export const TagsSchema = z.record(z.string(), z.string());
