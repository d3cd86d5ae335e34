import { PassThrough, Readable } from 'node:stream';
import type { CliContext, OperatorHomeCommands, Sink, StackCommands } from '../../../cli/context.ts';
import type { ContextStore, Profile } from '../../../cli/context-file.ts';
import { runCli } from '../../../cli/program.ts';

export interface CommandLineOptions {
  /** Base URL of the API. */
  url?: string;
  /** Content of stdin. */
  stdin?: string;
  /** Whether stdout and stderr are terminals. */
  terminal?: boolean;
  /** What a person types: stdin is a terminal then. */
  typed?: string;
  stack?: StackCommands;
  operatorHome?: OperatorHomeCommands;
  /** Sent with every request. */
  token?: string;
  /** Sent to this machine's stack when it is meant. */
  stackToken?: string;
  /** The file of contexts. */
  contexts?: ContextStore;
  /** The context in use. */
  profile?: Profile;
  defaults?: CliContext['defaults'];
  browse?: CliContext['browse'];
  /** Columns of stdout and stderr; default: 120. */
  columns?: number;
  /** The time, ms; default: the machine's. */
  now?: () => number;
}

export interface CommandLine {
  /** Exit status, when the command has ended. */
  ended: Promise<number>;
  out(): string;
  err(): string;
  /** Presses Ctrl-C. */
  interrupt(): void;
  /** Resolves as soon as stderr holds `text`. */
  says(text: string): Promise<void>;
}

/** Runs a command line in this process, with streams of its own. */
export function startCli(args: string[], options: CommandLineOptions = {}): CommandLine {
  const interrupt = new AbortController();
  const out = recorder(options.terminal ?? false, options.columns);
  const err = recorder(options.terminal ?? false, options.columns);
  const context: CliContext = {
    out: out.sink,
    err: err.sink,
    stdin: stdinOf(options),
    version: '1.2.3',
    defaultUrl: options.url ?? 'http://127.0.0.1:1',
    tokenFor: async () => options.token,
    stackTokenFor: async () => options.stackToken,
    signal: interrupt.signal,
    now: options.now ?? (() => Date.now()),
    exit: 0,
    ...(options.stack ? { stack: options.stack } : {}),
    ...(options.operatorHome ? { operatorHome: options.operatorHome } : {}),
    ...(options.contexts ? { contexts: options.contexts } : {}),
    ...(options.profile ? { profile: options.profile } : {}),
    ...(options.defaults ? { defaults: options.defaults } : {}),
    ...(options.browse ? { browse: options.browse } : {}),
  };
  return {
    ended: runCli(args, context),
    out: out.text,
    err: err.text,
    interrupt: () => interrupt.abort(),
    says: err.holds,
  };
}

function stdinOf({ stdin, typed }: CommandLineOptions): CliContext['stdin'] {
  if (typed !== undefined) return Object.assign(new PassThrough(), { isTTY: true }).end(typed);
  return stdin === undefined ? new PassThrough().end() : Readable.from([stdin]);
}

/** Runs a command line to its end. */
export async function cli(
  args: string[],
  options: CommandLineOptions = {},
): Promise<{ exit: number; out: string; err: string }> {
  const command = startCli(args, options);
  const exit = await command.ended;
  return { exit, out: command.out(), err: command.err() };
}

function recorder(
  terminal: boolean,
  columns = 120,
): { sink: Sink; text(): string; holds(text: string): Promise<void> } {
  let written = '';
  const waiting: { text: string; resolve: () => void }[] = [];
  return {
    sink: {
      terminal,
      columns: () => columns,
      write: (text) => {
        written += text;
        for (const wait of waiting) if (written.includes(wait.text)) wait.resolve();
      },
    },
    text: () => written,
    holds: (text) =>
      written.includes(text) ? Promise.resolve() : new Promise((resolve) => waiting.push({ text, resolve })),
  };
}
