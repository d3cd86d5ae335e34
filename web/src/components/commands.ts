/** The commands of the pages of components. */
import type { ActionBody } from '../../../domain/components/selection-schema.ts';
import { curlCommand, shellWord } from '../shared/commands.ts';
import type { ComponentFilters } from './search.ts';
import type { Arguments, Selected, SessionWanted } from './selected.ts';

/** Returns an id as a term of a hostlist that means it alone. A `-` in front would be a flag. */
export function hostWord(id: string): string {
  return id.replace(/[,[\]\\!@\s]|^-/gu, '\\$&');
}

/** Returns the words that choose what the filters choose. */
export function filterWords({ hosts, text, status, enabled, config_name, tags }: ComponentFilters): string[] {
  return [
    ...(hosts === undefined ? [] : [shellWord(hosts.replace(/^-/, '\\-'))]),
    ...(text === undefined ? [] : [`--text=${shellWord(text)}`]),
    ...(status === undefined ? [] : [`--status=${status}`]),
    ...(config_name === undefined ? [] : [`--config=${shellWord(config_name)}`]),
    ...(tags === undefined ? [] : tags.split(',').map((tag) => `--tag=${shellWord(tag)}`)),
    ...(enabled === undefined ? [] : [enabled ? '--enabled' : '--no-enabled']),
  ];
}

/** Returns the command that lists what the page lists. The list of the command line has no filter by a part of the id. */
export function listCommand({ text, ...filters }: ComponentFilters): string {
  if (text === undefined) return ['./muster component list', ...filterWords(filters)].join(' ');
  return `${namesCommand(filters)} | grep -iF -- ${shellWord(text)}`;
}

const namesCommand = (filters: ComponentFilters) =>
  ['./muster component list -o name', ...filterWords(filters)].join(' ');

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

/**
 * Returns the command that does the same. All that match are chosen anew by it, since the API forgets a selection. `set` has other uses for the
 * flags of configuration and tags: a list of names goes before it then.
 */
export function actionCommand({ action, args, selected, filters, reason }: ToldAction): string {
  const words = [...argumentWords(args), ...(reason === '' ? [] : [`--reason=${shellWord(reason)}`]), '--yes'];
  const command = (chosen: readonly string[]) => [`./muster component ${VERBS[action]}`, ...chosen, ...words].join(' ');
  if (selected.kind === 'ids') return command([shellWord([...selected.ids].map(hostWord).join(','))]);
  const isTaken = filters.config_name !== undefined || filters.tags !== undefined;
  if (VERBS[action] === 'set' && isTaken) return `${listOfNames(filters)} | ${command(['-'])}`;
  const chosen = filterWords(filters);
  return command(chosen.length === 0 ? ['--all'] : chosen);
}

const listOfNames = ({ text, ...filters }: ComponentFilters) =>
  text === undefined ? namesCommand(filters) : listCommand({ text, ...filters });

function argumentWords(args: Arguments | null): string[] {
  if (args === null) return [];
  if ('desired_config' in args) return [`--config=${shellWord(args.desired_config)}`];
  return Object.entries(args.tags).map(([key, value]) =>
    value === '' ? `--untag=${shellWord(key)}` : `--tag=${shellWord(`${key}=${value}`)}`,
  );
}

/** Returns the request of an action as a command of curl. */
export function actionCurl(url: string, { action, args, selected, filters, reason }: ToldAction): string {
  const selection = selected.kind === 'all' ? { filter: filters } : { ids: [...selected.ids] };
  return curlCommand('POST', url, { action, selection, ...(args === null ? {} : { args }) }, reason);
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
