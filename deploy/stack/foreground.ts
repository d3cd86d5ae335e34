/** Runs the stack in this process until a signal ends it: `npm start`, `muster up` and the demo. */
import { type Environment, EnvironmentError, loadEnvironment } from '../../config/environment.ts';
import { tlsSettings } from '../../config/tls-settings.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { StackError, startInterrupted } from './stack-error.ts';
import type { StackState } from './stack-state.ts';
import { startProgress } from './start-progress.ts';
import { MUSTER_COMMANDS, Supervisor } from './supervisor.ts';
import { buildWeb, webFolder } from './web-files.ts';

/** One press of Ctrl-C arrives more than once (terminal, npm, launcher); a later one (ms) is a second press. */
const SAME_PRESS_MS = 1_000;

const TELL_EVERY_MS = 1_000;

export interface ForegroundOptions {
  env: NodeJS.ProcessEnv;
  commands?: typeof MUSTER_COMMANDS;
  /** Default: the build of this checkout's web UI. */
  build?: typeof buildWeb;
  /** Takes one line for people. */
  say: (line: string) => void;
}

/** A running stack and the ways it ends. */
export interface ForegroundStack {
  state: StackState;
  environment: Environment;
  /** Aborted at the first signal. */
  interrupted: AbortSignal;
  /** Stops all in order; later calls join the first. */
  stop(): Promise<void>;
}

/**
 * Starts the stack, showing each part as it comes up and what it waits for. A signal during the start stops what has been started; later it
 * only aborts `interrupted`, and the caller stops. A second Ctrl-C hurries the stop.
 * @throws {StackError} with the exit status
 */
export async function startInForeground({
  env,
  commands = MUSTER_COMMANDS,
  build = buildWeb,
  say,
}: ForegroundOptions): Promise<ForegroundStack> {
  const environment = readEnvironment(env, say);
  const tell = startProgress(environment.MUSTER_DATA_DIR, say);
  const interrupted = new AbortController();
  const noBuild = new AbortController();
  const endOfBuild = AbortSignal.any([interrupted.signal, noBuild.signal]);
  let built = Promise.resolve();
  const supervisor = await Supervisor.create({
    environment,
    env,
    commands,
    onNote: say,
    onChange: tell,
    // Beside the start of the parts: Postgres takes longer.
    onDataDirectory: () => {
      built = build(webFolder(environment.MUSTER_DATA_DIR), endOfBuild).catch((error) => {
        if (!endOfBuild.aborted) say(`warning: there is no web UI: ${messageOf(error)}`);
      });
    },
  });
  let starting = true;
  let firstPress: number | null = null;
  const onSignal = (): void => {
    const now = Date.now();
    if (firstPress === null) {
      firstPress = now;
      interrupted.abort();
      if (starting) void supervisor.stop();
    } else if (now - firstPress > SAME_PRESS_MS) {
      void supervisor.stop(true);
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  // A part whose servers do not come is waited for without any change.
  const patience = setInterval(() => tell(supervisor.current()), TELL_EVERY_MS);
  try {
    await supervisor.start();
  } catch (error) {
    noBuild.abort();
    throw error;
  } finally {
    clearInterval(patience);
  }
  await built;
  starting = false;
  // A signal behind the last part's start stops them all while the build goes on, and ends it.
  if (interrupted.signal.aborted) {
    await supervisor.stop();
    throw startInterrupted();
  }
  return { state: supervisor.current(), environment, interrupted: interrupted.signal, stop: () => supervisor.stop() };
}

/** What the API would stumble over at its start is said here, where somebody reads it. */
function readEnvironment(env: NodeJS.ProcessEnv, say: (line: string) => void): Environment {
  try {
    const environment = loadEnvironment(env);
    for (const warning of tlsSettings(environment)?.warnings ?? []) say(`warning: ${warning}`);
    return environment;
  } catch (error) {
    if (error instanceof EnvironmentError) throw new StackError(error.message);
    throw error;
  }
}
