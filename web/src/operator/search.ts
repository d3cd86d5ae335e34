/** What the URLs of the pages of operators say. A value that none of them knows is dropped, and named. */
import { type ListFilter, listReader } from '../shared/list/filters.ts';

export const RESOURCE_PHASES = ['waiting', 'queued', 'running', 'backing_off', 'paused', 'deleting', 'gone'] as const;

export const RESOURCE_FILTERS: readonly ListFilter[] = [
  { kind: 'text', name: 'name', label: 'Filter', hint: 'the whole name' },
  { kind: 'text', name: 'kind', label: 'Kind', hint: 'Widget', flag: '--kind' },
  { kind: 'text', name: 'namespace', label: 'Namespace', flag: '--namespace' },
  { kind: 'choice', name: 'phase', label: 'Status', words: RESOURCE_PHASES, flag: '--phase' },
  { kind: 'text', name: 'operator', label: 'Operator', flag: '--operator' },
];

/** Returns what the URL of the list says. */
export const readResourceListSearch = listReader(RESOURCE_FILTERS);

/** Returns what the URL of one resource says: `shown` is the reconcile that is looked at. */
export const readResourceSearch = listReader([]);
