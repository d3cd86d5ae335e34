/** Values that are stored once for each content: how they are written for their hash, and how large they may be. */
import { musterError } from '../errors.ts';

/** One input, bytes. */
export const LARGEST_INPUT = 1_048_576;
/** Lists and objects inside one another. */
const DEEPEST = 100;

/** Returns the text of a JSON value with the keys of its objects in order: equal values have equal texts. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    member !== null && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : member,
  );
}

/**
 * Whether the values of inputs may be kept.
 * Throws `value_too_large` for a value above 1 MiB, `validation_failed` for lists and objects too deep inside one another, and for text
 * that the database cannot hold.
 */
export function checkValues(inputs: Readonly<Record<string, unknown>>): void {
  for (const [input, value] of Object.entries(inputs)) {
    const mistake = formMistake(value);
    if (mistake !== null) throw musterError('validation_failed', `Input ${input} ${mistake}`, `inputs.${input}`);
    const bytes = new TextEncoder().encode(JSON.stringify(value) ?? 'null').length;
    if (bytes > LARGEST_INPUT) {
      throw musterError(
        'value_too_large',
        `Input ${input} has ${bytes} bytes; at most ${LARGEST_INPUT} are allowed`,
        `inputs.${input}`,
      );
    }
  }
}

/**
 * Returns what keeps a foreign value from being stored, or null: it is too deep, or has text that the database cannot hold. Looks level by
 * level, since foreign values may be as deep as they like.
 */
export function formMistake(value: unknown): string | null {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return `is deeper than ${DEEPEST} levels`;
    if (level.some((one) => typeof one === 'string' && (one.includes('\0') || !one.isWellFormed()))) {
      return 'has text in it that cannot be stored';
    }
    level = level.flatMap((one) =>
      one !== null && typeof one === 'object'
        ? [...(Array.isArray(one) ? [] : Object.keys(one)), ...Object.values(one)]
        : [],
    );
  }
  return null;
}

/** Whether two JSON values are the same, whatever the order of their members. */
export function isDeepEqual(one: unknown, other: unknown): boolean {
  return canonicalText(one) === canonicalText(other);
}
