/** Start, stop and state of a stack from another process; the command line is written on top of this. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataPaths } from '../../config/data-paths.ts';
import { EnvironmentError } from '../../config/environment.ts';
import { environmentOfProcesses } from '../../config/file-settings.ts';
import { readWarmNote } from '../../drivers/local-runner/warm-note.ts';
import { isAlive } from '../../drivers/machine/process-table.ts';
import { activeRuns } from './active-runs.ts';
import { prepareDataDirectory } from './data-directory.ts';
import { endLeftovers } from './leftovers.ts';
import { isUp, livingState, untilUpOrGone } from './other-start.ts';
import { endProcess } from './process-identity.ts';
import type { BackgroundMessage } from './run-stack.ts';
import { StackError } from './stack-error.ts';
import { COMPONENT_NAMES, readStackState, type StackState, writeStackState } from './stack-state.ts';
import { startProgress } from './start-progress.ts';
import { differingSettings } from './started-settings.ts';

const MAIN = join(import.meta.dirname, 'main.ts');
/** Sum of the graces of all parts, and some more (ms). */
const STOP_WITHIN_MS = 90_000;

/** Exit status of a stack whose data directory another one has. */
const RUNS_ALREADY = 5;

export interface StartOptions {
  /** As in MUSTER_DATA_DIR, resolved. */
  dataDir: string;
  /** Environment of the stack; the settings are read from it. */
  env: NodeJS.ProcessEnv;
  /** Takes one line of progress. */
  onProgress?: (line: string) => void;
  /** Ends the start when aborted. */
  signal?: AbortSignal;
  /** Program to run; default: this checkout's stack. */
  entry?: string;
}

export type StartResult =
  | { outcome: 'started' | 'already_running'; state: StackState }
  | { outcome: 'failed'; message: string; exit: number };

/**
 * Starts the stack in the background and answers when it is healthy or has failed. It lives on when the caller ends; its
 * own messages are in `<data>/logs/stack.log`. A start of somebody else is waited for, and its failure answered; the end of one
 * that is being stopped too, and then it is started.
 */
export async function startStack(options: StartOptions): Promise<StartResult> {
  const refused = await refusedSettings(options);
  if (refused !== null) return { outcome: 'failed', ...refused };
  const other = await otherStack(options);
  if (other !== null) return other;
  const result = await launch(options);
  // Another command was faster by a moment.
  if (result.outcome === 'failed' && result.exit === RUNS_ALREADY) return (await otherStack(options)) ?? result;
  return result;
}

/** What is wrong with the settings, also beside a stack that runs with others; null when nothing is. */
async function refusedSettings({ dataDir, env }: StartOptions): Promise<{ message: string; exit: number } | null> {
  try {
    const found = await livingState(dataDir);
    const names = differingSettings(env, found?.settings);
    if (names.length === 0) return null;
    const message =
      `A stack runs in ${dataDir} already, with other values of ${names.join(', ')}. Stop it first ("./muster down --keep-runs"), or ` +
      'leave these settings away.';
    return { message, exit: RUNS_ALREADY };
  } catch (error) {
    if (error instanceof EnvironmentError) return { message: error.message, exit: 2 };
    throw error;
  }
}

/** What has come of the stack that lives here; null when none does any more. */
async function otherStack({ dataDir, onProgress, signal }: StartOptions): Promise<StartResult | null> {
  const found = await livingState(dataDir);
  if (found === null) return null;
  if (isUp(found)) return { outcome: 'already_running', state: found };
  const starting = found.state === 'starting';
  const say = onProgress ?? (() => undefined);
  say(
    starting ? 'a stack is starting here already: waiting for it' : 'the stack here is being stopped: waiting for that',
  );
  const tell = startProgress(dataDir, say);
  const onState = (state: StackState): void => {
    if (starting && (state.state === 'starting' || isUp(state))) tell(state);
  };
  const state = await untilUpOrGone(dataDir, { onState, signal });
  if (state !== null) return { outcome: 'already_running', state };
  if (signal?.aborted) return { outcome: 'failed', message: 'The start was interrupted.', exit: 130 };
  const last = readStackState(dataDir);
  if (!starting || last?.state !== 'failed') return null;
  return { outcome: 'failed', message: `The stack did not start: ${last.reason}`, exit: 1 };
}

/** Starts the program and answers what it says of its start. */
async function launch({ dataDir, env, onProgress, signal, entry = MAIN }: StartOptions): Promise<StartResult> {
  try {
    prepareDataDirectory(dataDir);
  } catch (error) {
    if (error instanceof StackError) return { outcome: 'failed', message: error.message, exit: error.exit };
    throw error;
  }
  const log = openSync(join(dataDir, 'logs', 'stack.log'), 'a', 0o600);
  const child = spawn(process.execPath, [entry], {
    env: { ...environmentOfProcesses(env), MUSTER_DATA_DIR: dataDir },
    cwd: dataDir,
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  const onAbort = () => child.kill('SIGTERM');
  signal?.addEventListener('abort', onAbort);
  if (signal?.aborted) onAbort();
  const result = await new Promise<StartResult>((resolve) => {
    child.on('message', (message: BackgroundMessage) => {
      if (message.type === 'progress') onProgress?.(message.line);
      else if (message.type === 'up') resolve({ outcome: 'started', state: message.state });
      else resolve({ outcome: 'failed', message: message.message, exit: message.exit });
    });
    child.on('error', (error) => resolve({ outcome: 'failed', message: error.message, exit: 1 }));
    child.on('exit', (code, by) => {
      const message = `The stack ended while it was starting (${by ?? `status ${code}`}):\n${lastLines(dataDir)}`;
      resolve({ outcome: 'failed', message, exit: 1 });
    });
  });
  signal?.removeEventListener('abort', onAbort);
  child.removeAllListeners();
  if (child.connected) child.disconnect();
  child.unref();
  return result;
}

export type StopResult =
  | { outcome: 'stopped' | 'not_running' }
  /** Nothing was stopped, because these runs are active. */
  | { outcome: 'runs_active'; runs: string[] };

/**
 * Stops the stack of a data directory and answers when it is gone; also what a killed supervisor left running.
 * @param keepRuns stop although runs are active; they go on and the next start finds them
 */
export async function stopStack({ dataDir, keepRuns }: { dataDir: string; keepRuns: boolean }): Promise<StopResult> {
  const state = readStackState(dataDir);
  if (state === null || !(await anythingLives(state))) return { outcome: 'not_running' };
  if (!keepRuns) {
    const runs = await activeRuns(dataDir);
    if (runs.length > 0) return { outcome: 'runs_active', runs };
  }
  await endProcess(state.supervisor, 'SIGTERM', STOP_WITHIN_MS);
  await endLeftovers(dataDir);
  const last = readStackState(dataDir) ?? state;
  if (last.state !== 'stopped') writeStackState(dataDir, allStopped(last));
  return { outcome: 'stopped' };
}

/**
 * What runs now: the last written state, corrected by a look at the processes. Null when no stack was ever started here.
 */
export async function stackStatus(dataDir: string): Promise<StackState | null> {
  const state = readStackState(dataDir);
  if (state === null) return state;
  const warm_ansible = await readWarmNote(dataPaths(dataDir).temporary.worker);
  if (await isAlive(state.supervisor)) return { ...state, warm_ansible };
  if (!(await anythingLives(state))) return state.state === 'failed' ? state : allStopped(state);
  const reason = 'the supervisor was killed; "./muster up" starts anew, "./muster down" ends what is left';
  return { ...state, state: 'degraded', reason };
}

async function anythingLives(state: StackState): Promise<boolean> {
  const processes = [state.supervisor, ...Object.values(state.components).map((part) => part.process)];
  for (const identity of processes) if (identity && (await isAlive(identity))) return true;
  return false;
}

function allStopped(state: StackState): StackState {
  const components = { ...state.components };
  for (const name of COMPONENT_NAMES) {
    const part = components[name];
    if (part && part.state !== 'external')
      components[name] = { ...part, state: 'stopped', reason: null, process: null };
  }
  return { ...state, state: 'stopped', reason: null, components };
}

function lastLines(dataDir: string): string {
  return readFileSync(join(dataDir, 'logs', 'stack.log'), 'utf8')
    .trimEnd()
    .split('\n')
    .slice(-5)
    .join('\n');
}
