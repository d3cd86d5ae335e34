/** What the URLs of the pages of batches and rollouts say. A value that none of them knows is dropped, and named. */
import { type ListFilter, listReader } from '../shared/list/filters.ts';
import { booleanOf, type Dropped, keptValues, matchOf, wholeTextOf, wordOf } from '../shared/search-values.ts';

export const BATCH_FILTERS: readonly ListFilter[] = [
  { kind: 'text', name: 'key', label: 'Filter', hint: 'the whole key', flag: '--key' },
  { kind: 'text', name: 'configuration', label: 'Configuration', flag: '--configuration' },
  { kind: 'choice', name: 'state', label: 'Status', words: ['open', 'sent', 'ended'], flag: '--state' },
];

/** Returns what the URL of the page of batches says. */
export const readBatchSearch = listReader(BATCH_FILTERS);

export const ROLLOUT_WORDS = ['canary', 'rolling', 'stopped', 'done', 'replaced'] as const;
export const ROLLOUT_FILTERS: readonly ListFilter[] = [
  { kind: 'choice', name: 'state', label: 'Status', words: ROLLOUT_WORDS },
  { kind: 'switch', name: 'all', label: 'Also replaced ones', flag: '--all' },
];

export interface RolloutSearch extends Dropped {
  state?: (typeof ROLLOUT_WORDS)[number] | undefined;
  /** Also those that are not current. */
  all?: boolean | undefined;
  /** The configuration whose rollout is looked at. */
  configuration?: string | undefined;
  /** Where the page begins. */
  after_id?: string | undefined;
}

/** Returns what the URL says. */
export function readRolloutSearch(given: Record<string, unknown>): RolloutSearch {
  return keptValues({
    state: wordOf(ROLLOUT_WORDS, given.state),
    all: booleanOf(given.all),
    configuration: wholeTextOf(given.configuration, 60),
    after_id: given.after_id === undefined ? undefined : matchOf(/^[1-9][0-9]{0,14}$/, given.after_id),
  });
}
