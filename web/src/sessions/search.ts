/** What the URLs of the pages of sessions say. A value that none of them knows is dropped, and named. */
import type { ListFilter } from '../shared/list/filters.ts';
import { type Dropped, keptValues, matchOf, numberOf, textOf, wholeTextOf, wordOf } from '../shared/search-values.ts';

export const LIST_STATUSES = ['pending', 'running', 'complete'] as const;
export const SESSION_FILTERS: readonly ListFilter[] = [
  { kind: 'text', name: 'name_contains', label: 'Filter', hint: 'part of the name', flag: '--name-contains' },
  { kind: 'choice', name: 'status', label: 'Status', words: LIST_STATUSES, flag: '--status' },
];
/** Results of a task on a host. */
const RESULT_WORDS = ['failed', 'unreachable', 'changed', 'ok', 'skipped', 'rescued', 'ignored'] as const;
export const EVENT_FILTERS: readonly ListFilter[] = [
  { kind: 'text', name: 'host', label: 'Host', flag: '--host' },
  { kind: 'choice', name: 'result', label: 'Result', words: RESULT_WORDS, flag: '--result' },
];
export const SESSION_TABS = ['hosts', 'log', 'events', 'timeline'] as const;

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
  /** Of which layer the log is, from 0, and of which attempt, from 1; left out: of the newest output. */
  layer?: number | undefined;
  attempt?: number | undefined;
  /** What is looked for in the log. */
  q?: string | undefined;
  /** Whose events are shown, and of which result. */
  host?: string | undefined;
  result?: (typeof RESULT_WORDS)[number] | undefined;
  /** Where the page of events begins: the number of the event before it; left out: the newest. */
  after_id?: string | undefined;
}

/** Longest text that the API looks for, characters. */
const SOUGHT_MAX = 1_000;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns what the URL of the list says. */
export function readListSearch(given: Record<string, unknown>): ListSearch {
  return keptValues({
    status: wordOf(LIST_STATUSES, given.status),
    name_contains: given.name_contains === undefined ? undefined : textOf(given.name_contains),
    after_id: given.after_id === undefined ? undefined : matchOf(/^[0-9]{1,15}$/, given.after_id),
  });
}

/** Returns what the URL of one session says. */
export function readSessionSearch(given: Record<string, unknown>): SessionSearch {
  return keptValues({
    id: given.id === undefined ? undefined : matchOf(UUID, given.id),
    tab: wordOf(SESSION_TABS, given.tab),
    layer: numberOf(given.layer, 0),
    attempt: numberOf(given.attempt, 1),
    q: wholeTextOf(given.q, SOUGHT_MAX),
    host: wholeTextOf(given.host, SOUGHT_MAX),
    result: wordOf(RESULT_WORDS, given.result),
    after_id: given.after_id === undefined ? undefined : matchOf(/^[0-9]{1,9}$/, given.after_id),
  });
}
