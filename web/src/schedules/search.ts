/** What the URLs of the pages of schedules and drift say. A value that none of them knows is dropped, and named. */
import { type ListFilter, listReader } from '../shared/list/filters.ts';
import { type Dropped, keptValues, wholeTextOf, wordOf } from '../shared/search-values.ts';

/** Returns what the URL of the page of schedules says: `shown` is the schedule that is looked at. */
export const readScheduleSearch = listReader([]);

/** Worst first. */
export const DRIFT_WORDS = ['unreachable', 'failed', 'drifted', 'in_sync'] as const;
export const DRIFT_FILTERS: readonly ListFilter[] = [
  { kind: 'text', name: 'config_name', label: 'Configuration', flag: '--config' },
  { kind: 'choice', name: 'status', label: 'Status', words: DRIFT_WORDS, flag: '--status' },
];

export interface DriftSearch extends Dropped {
  status?: (typeof DRIFT_WORDS)[number] | undefined;
  config_name?: string | undefined;
  /** Where the page begins: the id before it. */
  after_id?: string | undefined;
  /** The component that is looked at. */
  component?: string | undefined;
}

/** Returns what the URL says. */
export function readDriftSearch(given: Record<string, unknown>): DriftSearch {
  return keptValues({
    status: wordOf(DRIFT_WORDS, given.status),
    config_name: wholeTextOf(given.config_name, 60),
    after_id: wholeTextOf(given.after_id, 1_000),
    component: wholeTextOf(given.component, 1_000),
  });
}
