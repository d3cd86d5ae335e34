import { type Command, Option } from 'commander';
import type { SessionSelection } from '../../../domain/sessions/many-schema.ts';
import { SESSION_STATUSES, type SessionStatus, SUCCEEDED, type Succeeded } from '../../../domain/sessions/schema.ts';
import type { ApiClient } from '../../client/api-client.ts';
import { usage } from '../../failure.ts';
import { pair, tagFilter } from '../../input/pairs.ts';

/** Flags that say which sessions a command means. */
export interface SessionFilters {
  status?: SessionStatus;
  succeeded?: Succeeded;
  nameContains?: string;
  tag?: Record<string, string>;
  minAge?: string;
  maxAge?: string;
  config?: string;
  host?: string;
}

/** Adds the filters that listing, cancelling, retrying and deleting share. */
export const withFilters = (command: Command, statuses: readonly SessionStatus[] = SESSION_STATUSES): Command =>
  command
    .addOption(new Option('--status <status>', 'only those with the status').choices([...statuses]))
    .addOption(new Option('--succeeded <value>', 'only those with the outcome').choices([...SUCCEEDED]))
    .option('--name-contains <text>', 'only names with this text')
    .option('--tag <name=value>', 'only those with the tag (may be repeated)', pair)
    .option('--min-age <age>', 'only those started so long ago: 30m, 12h, 7d, 2w')
    .option('--max-age <age>', 'only those started since: 30m, 12h, 7d, 2w')
    .option('--config <name>', 'only those of this configuration')
    .option('--host <hosts>', 'only those that ran on one of these hosts: a hostlist, as n[1-4]');

/** The filters as members of a query or a body; without those that were not given. */
export function selectionOf(filters: SessionFilters): SessionSelection {
  const members = {
    status: filters.status,
    succeeded: filters.succeeded,
    name_contains: filters.nameContains,
    tags: tagFilter(filters.tag),
    min_age: filters.minAge,
    max_age: filters.maxAge,
    configuration: filters.config,
    host: filters.host,
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Which sessions a command means: by their names, or by filters. */
export type ChosenSessions = { names: string[] } | { filter: SessionSelection };

/** Takes what was given. Throws when it is nothing, so that a forgotten word never means all sessions, and when it is both. */
export function chosenSessions(names: readonly string[], filters: SessionFilters): ChosenSessions {
  const filter = selectionOf(filters);
  const isFiltered = Object.keys(filter).length > 0;
  if (names.length > 0 === isFiltered) throw usage('give either names or filters', 'for example --status complete');
  return isFiltered ? { filter } : { names: [...new Set(names)] };
}

/** How many sessions a command means. `statuses`: the ones that it means where no filter says one; none: all. */
export async function countChosen(
  api: ApiClient,
  chosen: ChosenSessions,
  statuses: readonly SessionStatus[],
): Promise<number> {
  if ('names' in chosen) return chosen.names.length;
  const { filter } = chosen;
  const each = filter.status !== undefined || statuses.length === 0 ? [filter.status] : statuses;
  let count = 0;
  for (const status of each) {
    const query = { ...filter, status, count: true, limit: 1 };
    const { total } = await api.json<{ total: number }>({ method: 'GET', path: '/api/v1/sessions', query });
    count += total;
  }
  return count;
}
