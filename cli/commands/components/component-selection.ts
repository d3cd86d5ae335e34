import { text } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { CONFIGURATION_STATUSES, type ConfigurationStatus } from '../../../domain/components/schema.ts';
import type { Selection, Selector } from '../../../domain/components/selection-schema.ts';
import type { ApiClient } from '../../client/api-client.ts';
import type { CliContext } from '../../context.ts';
import { CliFailure, EXIT, usage } from '../../failure.ts';
import { moment } from '../../input/moment.ts';
import { pair, tagFilter } from '../../input/pairs.ts';
import { someOf } from '../../output/names.ts';

/** Flags that say which components a command means. */
export interface SelectionOptions {
  ids?: string;
  status?: ConfigurationStatus;
  config?: string;
  tag?: Record<string, string>;
  enabled?: boolean;
  changedSince?: string;
  text?: string;
  all?: boolean;
}

/** Adds the argument and the flags that choose components. `own`: flags that mean something else in this command. */
export function withSelection(command: Command, own: readonly ('config' | 'tag')[] = []): Command {
  command
    .argument('[hosts...]', 'hostlist, as n[1-4],!n3 or @role=compute; - for stdin')
    .option('--ids <hosts>', 'another name of the hostlist')
    .addOption(new Option('--status <status>', 'only those with the status').choices([...CONFIGURATION_STATUSES]));
  if (!own.includes('config')) command.option('--config <name>', 'only those that want this configuration');
  if (!own.includes('tag')) command.option('--tag <name=value>', 'only those with the tag (may be repeated)', pair);
  return command
    .option('--enabled', 'only enabled ones')
    .option('--no-enabled', 'only disabled ones')
    .option('--changed-since <time>', 'only those whose record changed since then, such as 2h', moment)
    .option('--text <part>', 'only those whose id has this text in it, in any case')
    .option('--all', 'all components');
}

/** The hostlist of the arguments, of `--ids` or of stdin; undefined when none was given. */
export async function hostsOf(
  context: Pick<CliContext, 'stdin'>,
  words: readonly string[],
  ids: string | undefined,
): Promise<string | undefined> {
  const given = ids === undefined ? words : [...words, ids];
  if (given.length === 0) return undefined;
  if (!given.includes('-')) return given.join(',');
  const lines = (await text(context.stdin)).split(/\r?\n/).filter((line) => line.trim() !== '');
  if (lines.length === 0) throw usage('stdin names no component');
  return [...given.filter((word) => word !== '-'), ...lines].join(',');
}

/** The names that a hostlist means, as the server reads it. */
export async function expandHosts(api: ApiClient, hosts: string): Promise<string[]> {
  const request = { method: 'POST', path: '/api/v1/hostlists', body: { hosts } } as const;
  return (await api.json<{ names: string[] }>(request)).names;
}

/** What is asked of the server. Throws when nothing was chosen, so that a forgotten word never means the whole fleet. */
export async function selectorOf(
  context: CliContext,
  words: readonly string[],
  options: SelectionOptions,
): Promise<Selector> {
  const hosts = await hostsOf(context, words, options.ids);
  const { status, config, enabled, changedSince, all } = options;
  const filter = {
    ...(hosts === undefined ? {} : { hosts }),
    ...(status === undefined ? {} : { status }),
    ...(config === undefined ? {} : { config_name: config }),
    ...(options.tag === undefined ? {} : { tags: tagFilter(options.tag) }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(changedSince === undefined ? {} : { changed_since: changedSince }),
    ...(options.text === undefined ? {} : { text: options.text }),
  };
  const isChosen = Object.keys(filter).length > 0;
  if (all && isChosen) throw usage('--all means every component', 'leave --all out, or the other choice');
  if (!all && !isChosen) throw usage('no component was chosen', 'name components, or choose by a flag, or give --all');
  return { filter };
}

/** Lets the server choose, and keep the choice. */
export function choose(api: ApiClient, selector: Selector): Promise<Selection> {
  return api.json<Selection>({ method: 'POST', path: '/api/v1/components/selections', body: selector });
}

/** Ends a command that has done the rest: names were given that no component has. */
export function requireKnown(unknown: readonly string[]): void {
  if (unknown.length === 0) return;
  throw new CliFailure(
    'component_not_found',
    `there is no component ${someOf(unknown, ', no component ')}`,
    EXIT.notFound,
  );
}
