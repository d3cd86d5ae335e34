import { type Command, Option } from 'commander';
import { ApiClient, type ApiRequest } from './client/api-client.ts';
import { type CliContext, say } from './context.ts';
import { integer, seconds } from './input/pairs.ts';
import { FORMATS } from './output/formats.ts';
import type { Shape } from './output/shape.ts';
import { TIME_FORMS } from './output/times.ts';
import { previewRequests } from './preview.ts';
import { refusedByContext } from './read-only.ts';

export interface ServerOptions {
  url?: string;
  /** Of a verb that writes: why, for the audit. */
  reason?: string;
}
export interface OutputOptions extends ServerOptions, Shape {}
export interface WriteOptions extends ServerOptions {
  /** Show what would change, and change nothing. */
  dryRun?: boolean;
  /** Show only the request. */
  dryRunRequest?: boolean;
}
export interface WatchOptions {
  watch?: true | number;
}
export interface WaitOptions {
  wait?: boolean;
  timeout?: number;
}

/** Adds `--url`. */
export const withServer = (command: Command): Command =>
  command.option(
    '--url <url>',
    'API to talk to (default: MUSTER_URL, else that of the context, else the stack of this machine)',
  );

/** Adds `-o`. */
export const withFormat = (command: Command): Command =>
  command.addOption(new Option('-o, --output <format>', 'form of the data').choices([...FORMATS]).default('table'));

/** Adds `--url` and `-o`. */
export const withOutput = (command: Command): Command => withFormat(withServer(command));

/** Adds the flags of the table of a list. */
export const withTable = (command: Command): Command =>
  command
    .option('--columns <names>', 'these columns of table, wide or tsv, with commas between them', titles)
    .option('--no-headers', 'without the line of titles')
    .option('--sort <column>', 'rows in the order of this column; -column for the greatest first')
    .addOption(
      new Option('--time <form>', 'form of times in tables (default: relative on a terminal, else iso)').choices([
        ...TIME_FORMS,
      ]),
    );

/** Names with commas between them. */
const titles = (word: string): string[] => word.split(',').map((name) => name.trim());

/** Adds `--reason`, of a verb that writes. */
export const withReason = (command: Command): Command => command.option('--reason <text>', 'why, for the audit');

/** Adds `--dry-run` and `--reason`, of a verb that writes. */
export const withDryRun = (command: Command): Command =>
  withReason(command)
    .option('--dry-run', 'show what would change, and change nothing; --dry-run=request shows the request alone')
    .addOption(new Option(DRY_RUN_REQUEST).hideHelp().implies({ dryRun: true }));

const DRY_RUN_REQUEST = '--dry-run-request';

/** Words of a command line with `--dry-run=request` as a flag of its own: one with an optional value would take the next word for it. */
export const withFlagsOnly = (words: readonly string[]): string[] =>
  words.map((word) => (word === '--dry-run=request' ? DRY_RUN_REQUEST : word));

/** Adds `--watch`. */
export const withWatch = (command: Command): Command =>
  command.option('--watch [seconds]', 'show it again and again (default: every 2 s) until Ctrl-C', seconds);

/** Adds `--wait` and `--timeout`. */
export const withWait = (command: Command): Command =>
  command
    .option('--wait', 'wait for the end of the session; its success is the exit status')
    .option('--timeout <seconds>', 'stop waiting after so long (exit status 6); the session goes on', seconds);

/** Adds `--limit` of a list, and the flags of its table. */
export const withLimit = (command: Command): Command =>
  withTable(command).option('--limit <count>', 'at most so many records', integer(1));

/** The client of the API that the options or the environment name. */
export const apiOf = (context: CliContext, options: ServerOptions): ApiClient =>
  new ApiClient(
    options.url ?? context.defaultUrl,
    context.signal,
    (url) => context.tokenFor(url),
    (text) => say(context, `warning: ${text}`),
    options.reason,
    (request) => refusedByContext(context.profile, options.url ?? context.defaultUrl, request),
  );

/** Makes the request, or shows what it would change for `--dry-run` and returns undefined. */
export async function perform<T>(
  context: CliContext,
  api: ApiClient,
  request: ApiRequest,
  options: WriteOptions,
): Promise<T | undefined> {
  if (options.dryRun) {
    await previewRequests(context, api, [request], options);
    return undefined;
  }
  return api.json<T>(request);
}
