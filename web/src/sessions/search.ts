/** What the URLs of the pages of sessions say. A value that none of them knows is dropped, and named. */

export const LIST_STATUSES = ['pending', 'running', 'complete'] as const;
export const SESSION_TABS = ['hosts', 'log'] as const;

/** What was dropped, for the page to say. */
interface Dropped {
  dropped?: string[] | undefined;
}

export interface ListSearch extends Dropped {
  status?: (typeof LIST_STATUSES)[number] | undefined;
  name_contains?: string | undefined;
  /** Where the page begins; the API's `next` has it. */
  after_id?: string | undefined;
}

export interface SessionSearch extends Dropped {
  /** The session that is meant: its name may be another's by now. */
  id?: string | undefined;
  tab?: (typeof SESSION_TABS)[number] | undefined;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns what the URL of the list says. */
export function readListSearch(given: Record<string, unknown>): ListSearch {
  return search({
    status: wordOf(LIST_STATUSES, given.status),
    name_contains: given.name_contains === undefined ? undefined : textOf(given.name_contains),
    after_id: given.after_id === undefined ? undefined : matchOf(/^[0-9]{1,15}$/, given.after_id),
  });
}

/** Returns what the URL of one session says. */
export function readSessionSearch(given: Record<string, unknown>): SessionSearch {
  return search({
    id: given.id === undefined ? undefined : matchOf(UUID, given.id),
    tab: wordOf(SESSION_TABS, given.tab),
  });
}

/** A value that does not fit. */
interface Wrong {
  wrong: true;
}
const WRONG: Wrong = { wrong: true };

function wordOf<Word extends string>(words: readonly Word[], value: unknown): Word | undefined | Wrong {
  return value === undefined ? undefined : (words.find((word) => word === value) ?? WRONG);
}

/** The router reads a value that looks like JSON as such: a number is text here. */
function textOf(value: unknown): string | Wrong {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value).slice(0, 200)
    : WRONG;
}

function matchOf(pattern: RegExp, value: unknown): string | Wrong {
  const text = textOf(value);
  return typeof text === 'string' && pattern.test(text) ? text : WRONG;
}

type Read<Shape> = { [Name in keyof Shape]: Exclude<Shape[Name], Wrong> } & Dropped;

function search<Shape extends Record<string, unknown>>(values: Shape): Read<Shape> {
  const entries = Object.entries(values);
  const dropped = entries.filter(([, value]) => value === WRONG).map(([name]) => name);
  const kept = entries.filter(([, value]) => value !== WRONG && value !== undefined);
  return { ...Object.fromEntries(kept), ...(dropped.length > 0 ? { dropped } : {}) } as Read<Shape>;
}
