/** What the URLs of the pages of propagation say. A value that none of them knows is dropped, and named. */
import { type ListFilter, listReader } from '../shared/list/filters.ts';

export const PLAN_STATES = ['built', 'running', 'paused', 'succeeded', 'failed', 'stopped', 'abandoned'] as const;

export const PLAN_FILTERS: readonly ListFilter[] = [
  { kind: 'text', name: 'prefix', label: 'Filter', hint: 'how the id begins', most: 36 },
  { kind: 'choice', name: 'state', label: 'Status', words: PLAN_STATES, flag: '--state' },
];

/** Returns what the URL of the list says. */
export const readPlanListSearch = listReader(PLAN_FILTERS);

/** Returns what the URL of one plan says: `shown` is the node that is looked at. */
export const readPlanSearch = listReader([]);
