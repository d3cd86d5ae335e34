import type { ComponentName } from './stack-state.ts';

/** What a probe throws when nothing answers at all: a process that hangs is not one that says what it lacks. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
}

/** How one process of the stack is started, judged and stopped. */
export interface ComponentPlan {
  name: ComponentName;
  file: string;
  args: string[];
  /** The complete environment. */
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** Unprivileged user to run as; absent: the user of the supervisor. */
  user?: { uid: number; gid: number } | undefined;
  logFile: string;
  /** host:port where it listens. */
  address: string | null;
  version: string | null;
  /**
   * Null when it works, else why not; throws `NoAnswer` when nothing answers. Absent: it says itself that it is ready, by the message `ready`
   * to its parent, and each second that it lives, by `{ type: 'alive', ill }`.
   */
  probe?: (() => Promise<string | null>) | undefined;
  /** Done before every start, after the process before has ended. */
  prepare?: (() => Promise<void>) | undefined;
  stop: StopPlan;
}

export interface StopPlan {
  signal: NodeJS.Signals;
  /** Time (ms) to end by itself. */
  graceMs: number;
  /** What is sent when that was not enough, or when the user is in a hurry. */
  forceSignal: NodeJS.Signals;
}
