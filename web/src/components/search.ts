/** What the URLs of the pages of components say, and what the API is asked for them. */
import type { ComponentItemsQuery } from '../../../domain/components/list-schema.ts';
import { booleanOf, type Dropped, keptValues, matchOf, wholeTextOf, wordOf } from '../shared/search-values.ts';

export const COMPONENT_STATUSES = ['configured', 'pending', 'failed', 'unconfigured'] as const;
/** Components of one page of the list. */
export const PAGE = 500;

/** Longest texts of the URL: a browser and a proxy take some 8,000 characters of an address. */
const [LONG, SHORT] = [6_000, 600];
/** An id of a failure. */
const FAILURE = /^f[0-9a-f]{15}$/;

/** Filters, in the words of the API. */
export interface ComponentFilters {
  text?: string | undefined;
  hosts?: string | undefined;
  status?: (typeof COMPONENT_STATUSES)[number] | undefined;
  enabled?: boolean | undefined;
  config_name?: string | undefined;
  tags?: string | undefined;
  /** Id of what they failed with. */
  failure?: string | undefined;
}

export interface ComponentListSearch extends ComponentFilters, Dropped {
  /** Where the page begins; the API's `next` has it. */
  after_id?: string | undefined;
}

/** Returns what the URL of the list says. */
export function readComponentListSearch(given: Record<string, unknown>): ComponentListSearch {
  return keptValues({
    text: wholeTextOf(given.text, SHORT),
    hosts: wholeTextOf(given.hosts, LONG),
    status: wordOf(COMPONENT_STATUSES, given.status),
    enabled: booleanOf(given.enabled),
    config_name: wholeTextOf(given.config_name, SHORT),
    tags: wholeTextOf(given.tags, LONG),
    failure: given.failure === undefined ? undefined : matchOf(FAILURE, given.failure),
    after_id: wholeTextOf(given.after_id, SHORT),
  });
}

/** Returns the filters alone. */
export function filtersOf(search: ComponentListSearch): ComponentFilters {
  const { text, hosts, status, enabled, config_name, tags, failure } = search;
  const all = Object.entries({ text, hosts, status, enabled, config_name, tags, failure });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}

/** Whether a filter is set. */
export function isFiltered(search: ComponentListSearch): boolean {
  return Object.keys(filtersOf(search)).length > 0;
}

/** Returns the path of the page below `/api/v1`. */
export function listPath(search: ComponentListSearch): string {
  const { after_id } = search;
  const asked: Partial<ComponentItemsQuery> = { ...filtersOf(search), limit: PAGE, count: true };
  const words = Object.entries({ ...asked, ...(after_id === undefined ? {} : { after_id }) });
  return `/components?${new URLSearchParams(words.map(([name, value]): [string, string] => [name, String(value)]))}`;
}

/** Returns the path of all that match as a file, below `/api/v1`. */
export function csvPath(search: ComponentListSearch): string {
  const words = Object.entries({ ...filtersOf(search), format: 'csv' });
  return `/components?${new URLSearchParams(words.map(([name, value]): [string, string] => [name, String(value)]))}`;
}

/** Returns where a character of a text is for an input: the API counts characters, an input counts units of UTF-16. */
export function inputPlace(text: string, position: number): number {
  return [...text].slice(0, position).join('').length;
}
