/** Pieces that the schemas of all lanes share. */
import { z } from 'zod';
import { jsonBytes } from './json-size.ts';

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
export const word = text(0, 4_096).regex(NO_BLANK, NO_BLANK_MESSAGE);

/** How many entries a list or map of a record may have, and how many bytes as JSON. */
interface Most {
  entries?: number;
  bytes: number;
}

/** A list, map or text that is refused when it is larger; the refusal says what it has. */
export function atMost<S extends z.ZodType>(schema: S, { entries, bytes }: Most): S {
  return schema.superRefine((value, context) => {
    const count = Object.keys(value as object).length;
    if (entries !== undefined && count > entries) {
      return context.addIssue({ code: 'custom', message: `has ${count} entries: at most ${entries}` });
    }
    const size = jsonBytes(value);
    if (size > bytes) context.addIssue({ code: 'custom', message: `has ${size} bytes: at most ${bytes}` });
  });
}

/** Longest text that says something to people or names something outside, in characters. */
export const TEXT_MAX = 4_096;

export const TagsSchema = atMost(z.record(z.string(), z.string()), { entries: 1_000, bytes: 256 * 1024 });

/** What members of each query of a list mean. */
export const LIMIT_TEXT = 'Most records of the page. Default of the CFS lists: the option `default_page_size`.';
export const AFTER_ID_TEXT =
  'Key of the last record of the page before, as `next` gives it. It need not exist any more.';

/** Parameters of the next page of a list, which go into the request as they are (cfs-api 3). */
export const NextPageSchema = z.record(z.string(), z.unknown()).meta({
  id: 'NextPage',
  description: 'Parameters of the request for the next page, such as `limit` and `after_id`.',
});
