import { spawn } from 'node:child_process';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { loadEnvironment } from '../../config/environment.ts';
import { environmentOfProcesses } from '../../config/file-settings.ts';
import { startStack } from '../stack/background.ts';
import { embeddedAddresses } from '../stack/embedded-addresses.ts';
import { SMALL_YOUNG_GENERATION } from '../stack/young-generation.ts';

const OPERATOR = join(import.meta.dirname, '..', '..', 'worker', 'operator.ts');
const ADDRESSES = ['MUSTER_DATABASE_URL', 'MUSTER_TEMPORAL_ADDRESS'] as const;

export interface RunOperatorOptions {
  /** The flags, as they were given. */
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Takes one line of progress. */
  tell(line: string): void;
  signal: AbortSignal;
}

export type OperatorEnded = { exit: number; message?: string };

/**
 * Runs an operator in the current folder until it is stopped, with the servers that are configured, else with an embedded stack of its own
 * folder, which it starts or joins and leaves running. Returns the exit status of the operator.
 */
export async function runOperator({ args, env, tell, signal }: RunOperatorOptions): Promise<OperatorEnded> {
  const missing = ADDRESSES.filter((name) => !env[name]);
  if (missing.length === 1) return { exit: 2, message: `${missing[0]} is not set: name both servers, or neither` };
  const dataDir = resolve(env.MUSTER_DATA_DIR || join(homedir(), '.muster-operator'));
  let servers: NodeJS.ProcessEnv = {};
  if (missing.length > 0) {
    const started = await startStack({ dataDir, env: { ...env, MUSTER_DATA_DIR: dataDir }, onProgress: tell, signal });
    if (started.outcome === 'failed') return { exit: started.exit, message: started.message };
    tell(`API: ${started.state.links.api}`);
    servers = embeddedAddresses(dataDir, loadEnvironment({ ...env, MUSTER_DATA_DIR: dataDir }), started.state);
  }
  const child = spawn(process.execPath, [SMALL_YOUNG_GENERATION, OPERATOR, ...args], {
    env: { ...environmentOfProcesses(env), ...servers, MUSTER_DATA_DIR: dataDir, MUSTER_WORKER_ROLE: 'operator' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const stop = () => child.kill('SIGTERM');
  signal.addEventListener('abort', stop);
  process.on('SIGTERM', stop);
  if (signal.aborted) stop();
  return new Promise((done) => {
    child.once('error', (error) => done({ exit: 1, message: error.message }));
    child.once('exit', (code, by) => {
      signal.removeEventListener('abort', stop);
      process.off('SIGTERM', stop);
      done({ exit: code ?? (by === null ? 1 : 128 + 15) });
    });
  });
}
