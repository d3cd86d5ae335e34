import type { Command } from 'commander';
import type { ActionAnswer, ActionBody } from '../../../domain/components/selection-schema.ts';
import type { ApiClient } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT, usage } from '../../failure.ts';
import { confirmMany } from '../../input/confirm.ts';
import { integer, pair } from '../../input/pairs.ts';
import { apiOf, perform, type WriteOptions, withDryRun, withServer } from '../../options.ts';
import { counted, someOf } from '../../output/names.ts';
import { choose, requireKnown, type SelectionOptions, selectorOf, withSelection } from './component-selection.ts';

interface ChangeOptions extends WriteOptions, SelectionOptions {
  yes?: boolean;
}

interface SetOptions extends Omit<ChangeOptions, 'config' | 'tag'> {
  config?: string;
  tag?: Record<string, string>;
  untag?: string[];
  retryPolicy?: number;
}

/** An action without the components that it is for. */
type Action = ActionBody extends infer Body ? (Body extends ActionBody ? Omit<Body, 'selection'> : never) : never;

/** What a person reads of an action. */
interface Words {
  /** Ends the question "12 components: ...?". */
  question: string;
  /** The report of so many components. */
  done(count: string): string;
}

/** `muster component enable|disable|set|clear|reset-errors|delete` */
export function changeCommands(noun: Command, context: CliContext): void {
  const verb = (name: string, description: string, action: Action, words: Words) =>
    asked(withSelection(withDryRun(withServer(noun.command(name)))))
      .description(description)
      .action((hosts: string[], options: ChangeOptions) => change(context, hosts, options, action, words));

  verb('enable', 'let configurations start by themselves', { action: 'enable' }, words('enable', 'enabled'));
  verb('disable', 'let nothing start by itself', { action: 'disable' }, words('disable', 'disabled'));
  verb(
    'clear',
    'forget what components reached, so that they are configured from the beginning',
    { action: 'clear_state' },
    words('forget what they reached of', 'cleared'),
  );
  verb(
    'reset-errors',
    'forget the errors of components, so that those whose tries are used up are tried again',
    { action: 'reset_errors' },
    { question: 'forget the errors of', done: (count) => `errors forgotten: ${count}` },
  );
  verb('delete', 'delete components', { action: 'delete' }, words('delete', 'deleted'));

  asked(withSelection(withDryRun(withServer(noun.command('set'))), ['config', 'tag']))
    .description('set the desired configuration, tags or the retry policy of components')
    .option('--config <name>', 'the configuration that they are to have; an empty name for none')
    .option('--tag <name=value>', 'a tag to set (may be repeated)', pair)
    .option('--untag <name>', 'a tag to take away (may be repeated)', (name, before: string[] = []) => [
      ...before,
      name,
    ])
    .option('--retry-policy <count>', 'tries of a configuration; -1 for no end', tries)
    .action(async (hosts: string[], options: SetOptions) => {
      const { config, tag, untag, retryPolicy, ...chosen } = options;
      const args = {
        ...(config === undefined ? {} : { desired_config: config }),
        ...(tag === undefined && untag === undefined
          ? {}
          : { tags: { ...tag, ...Object.fromEntries((untag ?? []).map((name) => [name, ''])) } }),
        ...(retryPolicy === undefined ? {} : { retry_policy: retryPolicy }),
      };
      if (Object.keys(args).length === 0)
        throw usage('there is nothing to set', 'give --config, --tag, --untag or --retry-policy');
      await change(context, hosts, chosen, { action: 'set', args }, words('change', 'changed'));
    });
}

const words = (question: string, done: string): Words => ({ question, done: (count) => `${count} ${done}` });

const asked = (command: Command): Command =>
  command.option('--yes', 'ask nothing; without a terminal more than one needs it');

const tries = (word: string): number => (word === '-1' ? -1 : integer(0)(word));

async function change(
  context: CliContext,
  hosts: string[],
  options: ChangeOptions,
  action: Action,
  { question, done }: Words,
): Promise<void> {
  const api = apiOf(context, options);
  const selector = await selectorOf(context, hosts, options);
  if (options.dryRun) {
    await act(context, api, { ...action, selection: selector } as ActionBody, options);
    return;
  }
  const { id, count, unknown } = await choose(api, selector);
  if (count > 1) await confirmMany(context, `${question} ${counted(count, 'component')}?`, options.yes);
  if (count > 0) {
    const answer = await act(context, api, { ...action, selection: id } as ActionBody, options);
    if (answer !== undefined) report(context, answer, done);
  } else if (unknown.length === 0) say(context, 'no component matches');
  requireKnown(unknown);
}

function act(context: CliContext, api: ApiClient, body: ActionBody, options: WriteOptions) {
  return perform<ActionAnswer>(context, api, { method: 'POST', path: '/api/v1/components/actions', body }, options);
}

function report(
  context: CliContext,
  { changed, unchanged, vanished, warnings }: ActionAnswer,
  done: Words['done'],
): void {
  const rest = unchanged > 0 ? `; ${counted(unchanged, 'component')} as before` : '';
  say(context, `${done(counted(changed, 'component'))}${rest}`);
  for (const warning of warnings) say(context, `warning: ${warning}`);
  if (vanished.length === 0) return;
  throw new CliFailure(
    'components_vanished',
    `${counted(vanished.length, 'component')} vanished meanwhile: ${someOf(vanished)}`,
    EXIT.failed,
  );
}
