import { type Command, Option } from 'commander';
import { RETRY_HOSTS, type Session } from '../../../domain/sessions/schema.ts';
import { type ApiClient, type ApiRequest, type Query, segment } from '../../client/api-client.ts';
import { pages } from '../../client/pages.ts';
import { type CliContext, say } from '../../context.ts';
import { usage } from '../../failure.ts';
import { goingOn } from '../../follow/follow-session.ts';
import { followToEnd } from '../../follow/session-end.ts';
import { confirm } from '../../input/confirm.ts';
import { pair } from '../../input/pairs.ts';
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
import { type CancelOptions, cancelMany } from './cancel-many.ts';
import { filterQuery, type SessionFilters, withFilters } from './read-sessions.ts';

type CommandOptions = OutputOptions & WriteOptions & WaitOptions;
type DeleteOptions = WriteOptions & SessionFilters & { yes?: boolean };

const path = (name: string): string => `/api/v1/sessions/${segment(name)}`;

/** Adds `session cancel`, `finish-debug`, `retry` and `delete`. */
export function changeCommands(noun: Command, context: CliContext): void {
  withWait(withDryRun(withOutput(noun.command('cancel'))))
    .description('end sessions and everything they run: named ones, or all by --status or --tag')
    .argument('[name...]')
    .addOption(new Option('--status <status>', 'all that wait, or all that run').choices(['pending', 'running']))
    .option('--tag <name=value>', 'all with the tag (may be repeated)', pair)
    .action(async (names: string[], options: CommandOptions & CancelOptions) => {
      const [name = ''] = names;
      const many = names.length !== 1 || options.status !== undefined || options.tag !== undefined;
      if (many) return cancelMany(context, names, options);
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

  withWait(withDryRun(withOutput(noun.command('retry'))))
    .description('run a session again from its failed layer: in place while it is kept, else as a new session')
    .argument('<name>')
    .addOption(new Option('--hosts <which>', 'which hosts').choices(RETRY_HOSTS))
    .option('--as <name>', 'name of the new session; one is made when absent')
    .action(async (name: string, options: CommandOptions & { hosts?: string; as?: string }) => {
      const body = {
        ...(options.hosts === undefined ? {} : { hosts: options.hosts }),
        ...(options.as === undefined ? {} : { name: options.as }),
      };
      await retry(context, name, { method: 'POST', path: `${path(name)}/retry`, body }, options);
    });

  withDryRun(withFilters(withServer(noun.command('delete'))))
    .description('delete sessions with their logs: named ones, or by filters (complete ones unless --status says else)')
    .argument('[name...]')
    .option('-y, --yes', 'do not ask; without a terminal there is no question')
    .action((names: string[], options: DeleteOptions) => deleteSessions(context, names, options));
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

async function deleteSessions(context: CliContext, names: string[], options: DeleteOptions): Promise<void> {
  const api = apiOf(context, options);
  const query = filterQuery(options);
  const filtered = Object.values(query).some((value) => value !== undefined);
  if (names.length > 0 === filtered) throw usage('give either names or filters', 'for example --status complete');
  if (options.dryRun || (context.stdin.isTTY && !options.yes)) {
    const count = filtered ? await countMatching(api, query) : new Set(names).size;
    if (options.dryRun) say(context, `${sessions(count)} would be deleted`);
    else await confirm(context, `Delete ${sessions(count)}?`);
  }
  if (filtered) {
    const request: ApiRequest = { method: 'DELETE', path: '/v3/sessions', query };
    const answer = await perform<{ session_ids: string[] }>(context, api, request, options);
    if (answer) {
      context.out.write(answer.session_ids.map((id) => `${id}\n`).join(''));
      say(context, `${sessions(answer.session_ids.length)} deleted`);
    }
    return;
  }
  for (const name of names) {
    await perform<Session>(context, api, { method: 'DELETE', path: `/v3/sessions/${segment(name)}` }, options);
    if (!options.dryRun) say(context, `session ${name} deleted`);
  }
}

/** How many sessions a delete with these filters means; without `status` it means complete ones. */
async function countMatching(api: ApiClient, query: Query): Promise<number> {
  const filters = { ...query, status: query.status ?? 'complete' };
  let count = 0;
  for await (const _session of pages<Session>(api, '/v3/sessions', 'sessions', filters)) count += 1;
  return count;
}

const sessions = (count: number): string => `${count} ${count === 1 ? 'session' : 'sessions'}`;
