import type { Readable } from 'node:stream';
import type { RestoreReport } from '../deploy/backup/restore-backup.ts';
import type { BackupReport } from '../deploy/backup/take-backup.ts';
import type { ValidateOptions, WatchesReport } from '../deploy/operator/validate-watches.ts';
import type { StopResult } from '../deploy/stack/background.ts';
import type { StackState } from '../deploy/stack/stack-state.ts';
import type { ContextStore, Profile } from './context-file.ts';
import { manyLines } from './terminal/neutralise.ts';

/** A stream the command line writes to. */
export interface Sink {
  write(text: string): void;
  /** Whether a person looks at it: only then are there live lines and is hostile text made visible. */
  readonly terminal: boolean;
  /** Whether the person wants no colours (`NO_COLOR`). */
  readonly plain?: boolean;
  /** Whether the person wants colours wherever it goes (`--color always`). */
  readonly coloured?: boolean;
  /** Width in characters; 80 when unknown. */
  columns(): number;
  /** Height in lines; absent where it is not known. */
  rows?(): number;
  /** Calls `changed` whenever the size changes, until the returned function is called. */
  onResize?(changed: () => void): () => void;
}

/** Everything a command may touch of the process; made by `main.ts`, and by tests. */
export interface CliContext {
  /** Data. */
  out: Sink;
  /** Messages. */
  err: Sink;
  stdin: Readable & { isTTY?: boolean; setRawMode?: (raw: boolean) => unknown };
  /** Version of Muster. */
  version: string;
  /** Base URL of the API when `--url` is absent. */
  defaultUrl: string;
  /** The token to send to an API; undefined: none. Throws a `CliFailure` when the one that was named cannot be read. */
  tokenFor(url: string): Promise<string | undefined>;
  /** The token to send to the API of this machine's stack; undefined: none. Throws as `tokenFor` does. */
  stackTokenFor(url: string): Promise<string | undefined>;
  /** The token that `import` sends to the other CFS when no file with one is named. */
  importToken?: string | undefined;
  /** Aborted by the first Ctrl-C. */
  signal: AbortSignal;
  /** Milliseconds since 1970. */
  now(): number;
  /** Exit status of the command; 0 unless a command sets another. */
  exit: number;
  /** No messages but errors and warnings. */
  quiet?: boolean;
  /** Nothing is asked. */
  noInput?: boolean;
  /** What the environment or the context in use says where a command has no flag. */
  defaults?: { output?: string | undefined; time?: string | undefined };
  /** The context in use. */
  profile?: Profile | undefined;
  /** The file of the contexts; absent where only the HTTP client is wanted. */
  contexts?: ContextStore;
  /** Opens a page in the browser of the person; false where there is none. */
  browse?(url: string): Promise<boolean>;
  /** Starts and stops the embedded stack; absent where only the HTTP client is wanted. */
  stack?: StackCommands;
  /** What a folder with a `watches.yaml` is asked on this machine; absent where only the HTTP client is wanted. */
  operatorHome?: OperatorHomeCommands;
}

/** A folder with a `watches.yaml`, as the command line needs it; no API is asked. */
export interface OperatorHomeCommands {
  validate(options: ValidateOptions): Promise<{ file: string; report: WatchesReport }>;
  /** Runs the operator of the current folder until it is stopped; returns its exit status. Throws a `CliFailure` when it cannot start. */
  run(args: readonly string[], tell: (line: string) => void, signal: AbortSignal): Promise<number>;
}

/** The embedded stack of this machine as the command line needs it. */
export interface StackCommands {
  /** Starts it in the background; `tell` takes lines of progress. Throws a `CliFailure` when it does not come up. */
  up(
    tell: (line: string) => void,
    signal: AbortSignal,
  ): Promise<{ outcome: 'started' | 'already_running'; state: StackState }>;
  /** Runs it in this process until it is stopped; answers the exit status. */
  foreground(): Promise<number>;
  /** Stops it, unless runs are active and may not be left alone. */
  stop(options: { keepRuns: boolean }): Promise<StopResult>;
  /** Saves it in one file while it works. Throws a `CliFailure` when that cannot be done, as all below. */
  backup(
    path: string,
    options: { images: boolean },
    tell: (line: string) => void,
    signal: AbortSignal,
  ): Promise<BackupReport>;
  /** Fills its empty data directory from such a file. */
  restore(path: string, tell: (line: string) => void, signal: AbortSignal): Promise<RestoreReport>;
  /** What it says, also when its API does not answer; null when none was ever started. */
  state(): Promise<StackState | null>;
}

/** A message for people on stderr; what could steer a terminal is made visible. With `-q` only warnings are messages. */
export function say(context: Pick<CliContext, 'err' | 'quiet'>, text: string): void {
  if (context.quiet && !text.startsWith('warning:')) return;
  context.err.write(`${manyLines(text)}\n`);
}
