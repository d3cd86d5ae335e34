/** What a runner is, whichever way it executes: shapes shared by its drivers and by those who use it. */
import type { EventLine, ExitFile, ResultsFile, RunTrace } from './schema.ts';

/** What executes the work of users: processes of the worker, or Jobs of a cluster. */
export const RUNNERS = ['local', 'kubernetes'] as const;
export type RunnerKind = (typeof RUNNERS)[number];

/** One playbook run, complete: the child gets this environment and nothing else. */
export interface RunSpec {
  runId: string;
  /** Program and arguments, as a vector. */
  argv: string[];
  cwd: string;
  env: Record<string, string>;
  /** Variables besides that are secrets. */
  secretEnv: Record<string, string>;
  /** Secrets that may not appear in output or events. */
  masks: string[];
  /** Largest kept log in bytes. */
  logMaxBytes: number;
  /** Who writes its events; default: `journal`. */
  trace?: RunTrace;
  /** The folder of the inventory that all runs of its owner have in common; `last`: no run of the owner is known to follow. */
  inventory?: { folder: string; last: boolean };
}

/** Where the shipping of a run stands: lines and bytes of events.jsonl, bytes of output.log. */
export interface RunCursor {
  lines: number;
  eventBytes: number;
  outputBytes: number;
}

/** What is new in a run's files. */
export interface RunBatch {
  events: { line: number; event: EventLine }[];
  /** New output and the byte at which it begins. */
  output: { start: number; text: string } | null;
  cursor: RunCursor;
}

/** How a run ended. */
export interface RunEnd {
  /** Null when it was lost: claimed, its process gone, no exit file. */
  exit: ExitFile | null;
  /** Null when the playbook never came to its statistics, or what it left cannot be read. */
  results: ResultsFile | null;
  /** What is wrong with its files, for people. */
  warnings: string[];
}

export interface Runner {
  /**
   * Starts the run, or finds that it was started before; resolves when it is claimed. `onWait` is told when it has to
   * wait for a free place.
   */
  start(spec: RunSpec, signal: AbortSignal, onWait: (held: number, limit: number) => Promise<void>): Promise<void>;
  /** Whether the run was claimed, by whomever. */
  isStarted(runId: string): Promise<boolean>;
  /**
   * Follows a claimed run to its end and hands over everything it writes, in order, from `cursor` on. Resolves when the
   * last line was taken.
   */
  watch(
    runId: string,
    cursor: RunCursor,
    take: (batch: RunBatch) => Promise<void>,
    signal: AbortSignal,
  ): Promise<RunEnd>;
  /** Ends every process of the run, or keeps it from ever starting. */
  end(runId: string): Promise<void>;
  /**
   * Whether processes of a run that was lost may be at work which `end` could not find: they have shed the run's environment, and all that
   * they fell to was killed. Asked after `end`.
   */
  mayHaveLeft(runId: string): Promise<boolean>;
  /** Runs of this machine whose processes are there. */
  live(): Promise<string[]>;
  /** Runs of this machine that have files. */
  list(): Promise<string[]>;
  /** Removes the run's files. */
  remove(runId: string): Promise<void>;
}
