import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { processEnvironment } from './process-environment.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** An API server in a process of its own, on a given database and without a workflow engine. */
export interface ApiProcess {
  base: string;
  pid: number;
  /** Lines of its log as they came. */
  log: string[];
  stop(): Promise<void>;
}

/** Starts it with `settings` beside a folder and ports of its own; it answers from the database, or asks for a token, when this returns. */
export async function startApiProcess(databaseUrl: string, settings: Record<string, string> = {}): Promise<ApiProcess> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-test-api-process-'));
  const [port, temporalPort] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, [join(ROOT, 'api', 'main.ts')], {
    env: {
      ...processEnvironment(),
      HOME: dir,
      MUSTER_DATA_DIR: join(dir, 'data'),
      MUSTER_API_PORT: String(port),
      MUSTER_DATABASE_URL: databaseUrl,
      MUSTER_TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}`,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const log: string[] = [];
  createInterface(child.stdout).on('line', (line) => log.push(line));
  const base = `http://127.0.0.1:${port}`;
  await eventually('the API answers', async () => {
    if (child.exitCode !== null) throw new Error(`the API ended with ${child.exitCode}`);
    return [200, 401].includes((await fetch(`${base}/v3/options`).catch(() => null))?.status ?? 0);
  });
  return {
    base,
    pid: child.pid ?? 0,
    log,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
}
