/** Runs the stack in this process until a signal ends it: `npm start`, `muster up` and the demo. */
import { type Environment, EnvironmentError, loadEnvironment } from '../../config/environment.ts';
import { tlsSettings } from '../../config/tls-settings.ts';
import { StackError } from './stack-error.ts';
import type { ComponentName, StackState } from './stack-state.ts';
import { MUSTER_COMMANDS, Supervisor } from './supervisor.ts';

/** One press of Ctrl-C arrives more than once (terminal, npm, launcher); a later one (ms) is a second press. */
const SAME_PRESS_MS = 1_000;

export interface ForegroundOptions {
  env: NodeJS.ProcessEnv;
  commands?: typeof MUSTER_COMMANDS;
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
 * Starts the stack, showing each part as it comes up. A signal during the start stops what has been started; later it
 * only aborts `interrupted`, and the caller stops. A second Ctrl-C hurries the stop.
 * @throws {StackError} with the exit status
 */
export async function startInForeground({
  env,
  commands = MUSTER_COMMANDS,
  say,
}: ForegroundOptions): Promise<ForegroundStack> {
  const environment = readEnvironment(env, say);
  const startedAt = Date.now();
  const shown = new Map<ComponentName, string>();
  const supervisor = await Supervisor.create({
    environment,
    env,
    commands,
    onNote: say,
    onChange: (state) => showChanges(state, shown, startedAt, say),
  });
  const interrupted = new AbortController();
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
  await supervisor.start();
  starting = false;
  return { state: supervisor.current(), environment, interrupted: interrupted.signal, stop: () => supervisor.stop() };
}

/** Prints each change of a part's health once. */
function showChanges(
  state: StackState,
  shown: Map<ComponentName, string>,
  startedAt: number,
  say: (line: string) => void,
): void {
  for (const [key, part] of Object.entries(state.components)) {
    const name = key as ComponentName;
    const before = shown.get(name);
    if (part.state === before || part.state === 'external') continue;
    shown.set(name, part.state);
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
    if (part.state === 'healthy') {
      const what = [name, part.version, part.address && `on ${part.address}`].filter(Boolean).join(' ');
      say(before === 'unhealthy' ? `${name} is healthy again` : `${what} is up (${seconds} s)`);
    } else if (part.state === 'restarting' || part.state === 'unhealthy') {
      say(`${name}: ${part.reason}`);
    }
  }
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
