/** What the URLs of the pages of configurations say. A value that none of them knows is dropped, and named. */
import { type ListFilter, listReader } from '../shared/list/filters.ts';
import { booleanOf, type Dropped, keptValues, matchOf, wholeTextOf, wordOf } from '../shared/search-values.ts';

export const CONFIGURATION_TABS = ['layers', 'history', 'usage'] as const;
export type ConfigurationTab = (typeof CONFIGURATION_TABS)[number];
export const CONFIGURATION_FILTERS: readonly ListFilter[] = [
  { kind: 'either', name: 'in_use', label: 'Use', yes: 'in use', no: 'not in use', flag: '--in-use' },
];

export const SOURCE_FILTERS: readonly ListFilter[] = [
  { kind: 'either', name: 'in_use', label: 'Use', yes: 'in use', no: 'not in use' },
];

/** Returns what the URL of the page of sources says: `shown` is the source that is looked at. */
export const readSourceSearch = listReader(SOURCE_FILTERS);

/** Names have at most so many characters. */
const NAME_MOST = 60;

export interface ConfigurationListSearch extends Dropped {
  in_use?: boolean | undefined;
  /** Where the page begins: the name before it. */
  after_id?: string | undefined;
  /** Whether a new configuration is written. */
  new?: boolean | undefined;
}

export interface ConfigurationSearch extends Dropped {
  tab?: ConfigurationTab | undefined;
  /** Versions that are compared. */
  from?: string | undefined;
  to?: string | undefined;
  /** Where the page of the history begins. */
  after_id?: string | undefined;
}

const VERSION = /^([0-9]{1,13}-[0-9]{1,18}|current|earliest)$/;

/** The change that a page of the history begins behind. */
const CHANGE = /^[0-9]{1,13}-[0-9]{1,18}$/;

/** Returns what the URL of the list says. */
export function readConfigurationListSearch(given: Record<string, unknown>): ConfigurationListSearch {
  return keptValues({
    in_use: booleanOf(given.in_use),
    after_id: wholeTextOf(given.after_id, NAME_MOST),
    new: booleanOf(given.new),
  });
}

/** Returns what the URL of one configuration says. */
export function readConfigurationSearch(given: Record<string, unknown>): ConfigurationSearch {
  const version = (value: unknown) => (value === undefined ? undefined : matchOf(VERSION, value));
  return keptValues({
    tab: wordOf(CONFIGURATION_TABS, given.tab),
    from: version(given.from),
    to: version(given.to),
    after_id: given.after_id === undefined ? undefined : matchOf(CHANGE, given.after_id),
  });
}
