/** The commands of the pages of components. */
import type { ActionBody } from '../../../domain/components/selection-schema.ts';
import { apiCommand, curlCommand, shellWord } from '../shared/commands.ts';
import { type ComponentFilters, csvPath } from './search.ts';
import type { Arguments, Selected, SessionWanted } from './selected.ts';

/** Returns an id as a term of a hostlist that means it alone. A `-` in front would be a flag. */
export function hostWord(id: string): string {
  return id.replace(/[,[\]\\!@\s]|^-/gu, '\\$&');
}

/** Words of the command line for each filter, in their order; null where it has no words that mean the same. */
const WORDS: {
  readonly [Name in keyof ComponentFilters]-?: (value: NonNullable<ComponentFilters[Name]>) => string[] | null;
} = {
  hosts: (hosts) => [shellWord(hosts.replace(/^-/, '\\-'))],
  text: (text) => [`--text=${shellWord(text)}`],
  status: (status) => [`--status=${status}`],
  config_name: (name) => [`--config=${shellWord(name)}`],
  tags: tagWords,
  enabled: (enabled) => [enabled ? '--enabled' : '--no-enabled'],
  failure: () => null,
};

/** The flag takes a key once: of two values the last one would count alone. */
function tagWords(tags: string): string[] | null {
  const pairs = tags.split(',');
  const keys = new Set(pairs.map((pair) => pair.split('=')[0]));
  return keys.size < pairs.length ? null : pairs.map((pair) => `--tag=${shellWord(pair)}`);
}

/** Returns the words that choose what the filters choose; null where the command line has none for one of them. */
function filterWords(filters: ComponentFilters): string[] | null {
  const words: string[] = [];
  for (const name of Object.keys(WORDS) as (keyof ComponentFilters)[]) {
    const value = filters[name];
    if (value === undefined) continue;
    const said = WORDS[name](value as never);
    if (said === null) return null;
    words.push(...said);
  }
  return words;
}

/**
 * Returns the command that lists what the page lists. The list of the command line has no filter by a part of the id; `grep` would take each line of
 * a text by itself.
 */
export function listCommand(filters: ComponentFilters): string {
  const { text, ...others } = filters;
  const words = filterWords(others);
  if (words === null || text?.includes('\n')) return `./muster api GET ${shellWord(`/api/v1${csvPath(filters)}`)}`;
  if (text === undefined) return ['./muster component list', ...words].join(' ');
  return `${['./muster component list -o name', ...words].join(' ')} | grep -iF -- ${shellWord(text)}`;
}

/** An action as it is to be told. */
export interface ToldAction {
  action: ActionBody['action'];
  args: Arguments | null;
  selected: Selected;
  /** Filters of the page: what all that match means. */
  filters: ComponentFilters;
  reason: string;
}

/** Verbs of the command line, by action. */
const VERBS: Record<ActionBody['action'], string> = {
  enable: 'enable',
  disable: 'disable',
  clear_state: 'clear',
  reset_errors: 'reset-errors',
  delete: 'delete',
  set_desired: 'set',
  set_tags: 'set',
  set: 'set',
};

const PATH = '/api/v1/components/actions';

/**
 * Returns the command that does the same. All that match are chosen anew by it, since the API forgets a selection. The request itself is sent where
 * the flags cannot say the filter: `set` has other uses for the flags of configuration and tags.
 */
export function actionCommand(told: ToldAction): string {
  const { action, args, selected, filters, reason } = told;
  const why = reason === '' ? [] : [`--reason=${shellWord(reason)}`];
  const command = (chosen: readonly string[]) =>
    [`./muster component ${VERBS[action]}`, ...chosen, ...argumentWords(args), ...why, '--yes'].join(' ');
  if (selected.kind === 'ids') return command([shellWord([...selected.ids].map(hostWord).join(','))]);
  const isTaken = VERBS[action] === 'set' && (filters.config_name !== undefined || filters.tags !== undefined);
  const chosen = isTaken ? null : filterWords(filters);
  if (chosen === null) return [apiCommand('POST', PATH, bodyOf(told)), ...why].join(' ');
  return command(chosen.length === 0 ? ['--all'] : chosen);
}

function bodyOf({ action, args, selected, filters }: ToldAction): object {
  const selection = selected.kind === 'all' ? { filter: filters } : { ids: [...selected.ids] };
  return { action, selection, ...(args === null ? {} : { args }) };
}

function argumentWords(args: Arguments | null): string[] {
  if (args === null) return [];
  if ('desired_config' in args) return [`--config=${shellWord(args.desired_config)}`];
  return Object.entries(args.tags).map(([key, value]) =>
    value === '' ? `--untag=${shellWord(key)}` : `--tag=${shellWord(`${key}=${value}`)}`,
  );
}

/** Returns the request of an action as a command of curl. */
export function actionCurl(url: string, told: ToldAction): string {
  return curlCommand('POST', url, bodyOf(told), told.reason);
}

/** Returns the command that runs the session. */
export function sessionCommand({ name, configuration_name, ansible_limit }: SessionWanted, reason: string): string {
  const why = reason === '' ? [] : [`--reason=${shellWord(reason)}`];
  const words = [
    shellWord(name),
    `--configuration=${shellWord(configuration_name)}`,
    `--limit=${shellWord(ansible_limit)}`,
  ];
  return ['./muster session run', ...words, ...why].join(' ');
}
