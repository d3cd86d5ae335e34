import { type Command, Option } from 'commander';
import { RETRY_HOSTS, type RetryHosts } from '../../../domain/sessions/schema.ts';
import { type ApiRequest, segment } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { usage } from '../../failure.ts';
import { goingOn } from '../../follow/follow-session.ts';
import { followToEnd } from '../../follow/session-end.ts';
import { confirm } from '../../input/confirm.ts';
import {
  apiOf,
  type OutputOptions,
  perform,
  type WaitOptions,
  type WriteOptions,
  withDryRun,
  withOutput,
  withServer,
  withWait,
} from '../../options.ts';
import { cancelMany, deleteMany, type ManyOptions, retryMany } from './many-sessions.ts';
import { chosenSessions, type SessionFilters, withFilters } from './session-filters.ts';

type CommandOptions = OutputOptions & WriteOptions & WaitOptions;
type ManyCommandOptions = CommandOptions & ManyOptions & SessionFilters;
type DeleteOptions = ManyOptions & SessionFilters;

const path = (name: string): string => `/api/v1/sessions/${segment(name)}`;

/** Adds `session cancel`, `finish-debug`, `retry` and `delete`. */
export function changeCommands(noun: Command, context: CliContext): void {
  asked(withFilters(withWait(withDryRun(withOutput(noun.command('cancel')))), ['pending', 'running']))
    .description('end sessions and everything they run: named ones, or by filters')
    .argument('[name...]')
    .action(async (names: string[], options: ManyCommandOptions) => {
      const [name = ''] = names;
      const chosen = chosenSessions(names, options);
      if (new Set(names).size !== 1) return cancelMany(context, chosen, alone(options));
      const body = options.reason === undefined ? {} : { reason: options.reason };
      const request: ApiRequest = { method: 'POST', path: `${path(name)}/cancel`, body };
      await command(context, name, request, options, `session ${name} is being cancelled`);
    });

  withWait(withDryRun(withOutput(noun.command('finish-debug'))))
    .description('end a session that was kept after a failure')
    .argument('<name>')
    .action(async (name: string, options: CommandOptions) => {
      const request: ApiRequest = { method: 'POST', path: `${path(name)}/finish-debug`, body: {} };
      await command(context, name, request, options, `session ${name} is being finished`);
    });

  asked(withFilters(withWait(withDryRun(withOutput(noun.command('retry'))))))
    .description('run sessions again from their failed layer: in place while they are kept, else as new sessions')
    .argument('[name...]')
    .addOption(new Option('--hosts <which>', 'which hosts; a session that succeeded needs all').choices(RETRY_HOSTS))
    .option('--as <name>', 'name of the new session; one is made when absent')
    .action(async (names: string[], options: ManyCommandOptions & { hosts?: RetryHosts; as?: string }) => {
      const [name = ''] = names;
      const chosen = chosenSessions(names, options);
      if (new Set(names).size !== 1) {
        if (options.as !== undefined) throw usage('--as names one new session', 'name one session, or leave --as out');
        return retryMany(context, chosen, alone(options));
      }
      const body = {
        ...(options.hosts === undefined ? {} : { hosts: options.hosts }),
        ...(options.as === undefined ? {} : { name: options.as }),
      };
      await retry(context, name, { method: 'POST', path: `${path(name)}/retry`, body }, options);
    });

  asked(withDryRun(withFilters(withServer(noun.command('delete')))))
    .description('delete sessions with their logs: named ones, or by filters (complete ones unless --status says else)')
    .argument('[name...]')
    .action((names: string[], options: DeleteOptions) => deleteSessions(context, names, options));
}

const asked = (command: Command): Command =>
  command.option('-y, --yes', 'ask nothing; without a terminal more than one needs it');

/** The options of a command for many sessions. Throws for `--wait`, which follows one. */
function alone<T extends WaitOptions>(options: T): T {
  if (options.wait) throw usage('--wait follows one session', 'name one session, or leave --wait out');
  return options;
}

/** Sends a command to a session; with `--wait` follows the session to its end. */
async function command(
  context: CliContext,
  name: string,
  request: ApiRequest,
  options: CommandOptions,
  done: string,
): Promise<void> {
  const api = apiOf(context, options);
  await perform(context, api, request, options);
  if (options.dryRun) return;
  say(context, done);
  if (options.wait) await followToEnd(context, api, name, options);
}

async function retry(context: CliContext, name: string, request: ApiRequest, options: CommandOptions): Promise<void> {
  const api = apiOf(context, options);
  const answer = await perform<{ name?: string } | undefined>(context, api, request, options);
  if (options.dryRun) return;
  const running = answer?.name ?? name;
  say(context, running === name ? `session ${name} goes on from its failed layer` : `session ${running} created`);
  if (options.wait) return followToEnd(context, api, running, options);
  context.out.write(`${running}\n`);
  say(context, goingOn(running));
}

/** Deletes the one session of a name; many go with one request. */
async function deleteSessions(context: CliContext, names: string[], options: DeleteOptions): Promise<void> {
  const chosen = chosenSessions(names, options);
  const [name = ''] = names;
  if (new Set(names).size !== 1) return deleteMany(context, chosen, options);
  if (options.dryRun) say(context, '1 session would be deleted');
  else if (!options.yes) await confirm(context, 'Delete 1 session?');
  const request: ApiRequest = { method: 'DELETE', path: `/v3/sessions/${segment(name)}` };
  await perform(context, apiOf(context, options), request, options);
  if (!options.dryRun) say(context, `session ${name} deleted`);
}
