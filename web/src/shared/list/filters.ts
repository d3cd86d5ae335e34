/** Filters of a list, declared once: what the URL says of them, what the API is asked, and the same as a command. */
import { shellWord } from '../commands.ts';
import { booleanOf, type Dropped, keptValues, wholeTextOf, wordOf } from '../search-values.ts';

/** Longest text of the URL that is not a name of a known length, in characters. */
const MOST = 600;

interface Named {
  /** In the URL and of the API. */
  name: string;
  /** Of the command line; without one the command has no such filter. */
  flag?: string;
}

/** Text that is applied by Enter. The first one is where the key `/` leads. */
export interface TextFilter extends Named {
  kind: 'text';
  label: string;
  hint?: string;
  /** Longest text. */
  most?: number;
}

/** A word of a few. */
export interface ChoiceFilter extends Named {
  kind: 'choice';
  label: string;
  words: readonly string[];
}

/** Yes, no or any. */
export interface EitherFilter extends Named {
  kind: 'either';
  label: string;
  yes: string;
  no: string;
}

/** On or off. */
export interface SwitchFilter extends Named {
  kind: 'switch';
  label: string;
}

/** In the URL alone: links of other pages and commands set it. */
export interface SilentFilter extends Named {
  kind: 'silent';
}

export type ListFilter = TextFilter | ChoiceFilter | EitherFilter | SwitchFilter | SilentFilter;

/** Of a URL; names of what was dropped are a list. */
type ListValue = string | boolean | string[] | undefined;

/** What the URL of a list says, by the names of its filters. */
export type ListValues = Readonly<Record<string, ListValue>>;

/** What of a list is seen. */
export interface ListPlace {
  /** Where the page begins; the API's `next` has it. */
  after_id?: string | undefined;
  /** What is looked at beside the list. */
  shown?: string | undefined;
}

export interface ListSearch extends Dropped, ListPlace {
  [filter: string]: ListValue;
}

/** Returns what reads the URL of a list: values that a filter does not know are dropped, and named. */
export function listReader(filters: readonly ListFilter[]): (given: Record<string, unknown>) => ListSearch {
  return (given) =>
    keptValues({
      ...Object.fromEntries(filters.map((filter) => [filter.name, givenTo(filter, given[filter.name])])),
      after_id: wholeTextOf(given.after_id, 2_000),
      shown: wholeTextOf(given.shown, 2_000),
    }) as ListSearch;
}

function givenTo(filter: ListFilter, given: unknown): unknown {
  if (filter.kind === 'choice') return wordOf(filter.words, given);
  if (filter.kind === 'either' || filter.kind === 'switch') return booleanOf(given);
  return wholeTextOf(given, filter.kind === 'text' ? (filter.most ?? MOST) : MOST);
}

/** Whether a filter is set. */
export function isNarrowed(filters: readonly ListFilter[], values: ListValues): boolean {
  return filters.some(({ kind, name }) => values[name] !== undefined && (kind !== 'switch' || values[name] === true));
}

/** Returns the path of what the API is asked: the filters that are set, where the page begins, and `ask`. */
export function listPath(
  path: string,
  filters: readonly ListFilter[],
  values: ListValues,
  ask: Readonly<Record<string, string>>,
): string {
  const query = new URLSearchParams(ask);
  for (const name of [...filters.map((filter) => filter.name), 'after_id']) {
    const value = values[name];
    if (value !== undefined) query.set(name, String(value));
  }
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Returns the command that lists the same. A value is part of its flag's word, so that one that begins with `-` stays a value. */
export function listCommand(command: string, filters: readonly ListFilter[], values: ListValues): string {
  const words = filters.flatMap(({ flag, name }) => {
    const value = values[name];
    if (flag === undefined || value === undefined || value === false) return [];
    return [value === true ? flag : `${flag}=${shellWord(String(value))}`];
  });
  return [command, ...words].join(' ');
}
