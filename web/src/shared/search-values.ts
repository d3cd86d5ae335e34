/** Values of the URLs of pages. What a page does not know is dropped, and named. */

/** What was dropped, for the page to say. */
export interface Dropped {
  dropped?: string[] | undefined;
}

/** A value that does not fit. */
export interface Wrong {
  wrong: true;
}
const WRONG: Wrong = { wrong: true };

/** Returns the value where it is one of the words. */
export function wordOf<Word extends string>(words: readonly Word[], value: unknown): Word | undefined | Wrong {
  return value === undefined ? undefined : (words.find((word) => word === value) ?? WRONG);
}

/**
 * Returns what reads the URL of a page and says nothing else of it. The router adds to what a page reads all that stands in the URL: what the
 * page does not know, or has dropped, is none. What was dropped stays named.
 */
export function onlyKnown<Search extends Dropped>(read: (given: Record<string, unknown>) => Search) {
  return ({ dropped, ...given }: Record<string, unknown>): Search => {
    const none = Object.fromEntries(Object.keys(given).map((name): [string, undefined] => [name, undefined]));
    return { ...none, dropped: namesOf(dropped), ...read(given) };
  };
}

/** The names that the URL itself has of what was dropped before. */
function namesOf(dropped: unknown): string[] | undefined {
  if (!Array.isArray(dropped)) return undefined;
  return dropped.every((name) => typeof name === 'string') ? dropped : undefined;
}

/** Returns the value as text. The router reads a value that looks like JSON as such: a number is text here. */
export function textOf(value: unknown): string | Wrong {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value).slice(0, 200)
    : WRONG;
}

/** Returns the value where it is text of this pattern. */
export function matchOf(pattern: RegExp, value: unknown): string | Wrong {
  const text = textOf(value);
  return typeof text === 'string' && pattern.test(text) ? text : WRONG;
}

/** What a URL says: no value that did not fit. */
export type Read<Shape> = { [Name in keyof Shape]: Exclude<Shape[Name], Wrong> } & Dropped;

/** Returns the values that fit, and the names of the others. */
export function keptValues<Shape extends Record<string, unknown>>(values: Shape): Read<Shape> {
  const entries = Object.entries(values);
  const dropped = entries.filter(([, value]) => value === WRONG).map(([name]) => name);
  const kept = entries.filter(([, value]) => value !== WRONG && value !== undefined);
  return { ...Object.fromEntries(kept), ...(dropped.length > 0 ? { dropped } : {}) } as Read<Shape>;
}

/** Returns the value where it is true or false. */
export function booleanOf(value: unknown): boolean | undefined | Wrong {
  if (value === undefined || typeof value === 'boolean') return value;
  return value === 'true' ? true : value === 'false' ? false : WRONG;
}

/** Returns the value as text of at most so many characters; what is longer does not fit. Empty text is none. */
export function wholeTextOf(value: unknown, most: number): string | undefined | Wrong {
  if (value === undefined || value === '') return undefined;
  const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return isText && String(value).length <= most ? String(value) : WRONG;
}

/** Returns the value where it is a whole number from `least` on, of at most nine digits. */
export function numberOf(value: unknown, least: number): number | undefined | Wrong {
  if (value === undefined) return undefined;
  const text = textOf(value);
  return typeof text === 'string' && /^[0-9]{1,9}$/.test(text) && Number(text) >= least ? Number(text) : WRONG;
}
