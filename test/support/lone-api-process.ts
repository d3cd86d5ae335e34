import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'api', 'main.ts');

/** The API as a process of its own, on a database of its own; there is no Temporal. */
export interface ApiProcess {
  port: number;
  pid: number;
  database: TestDatabase;
  stop(): Promise<void>;
}

/** Starts it and waits until it answers. */
export async function startApiProcess(settings: Record<string, string> = {}): Promise<ApiProcess> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-test-process-'));
  const database = await createTestDatabase();
  const [port, temporalPort] = await Promise.all([freePort(), freePort()]);
  const child: ChildProcess = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env.PATH,
      HOME: dir,
      MUSTER_DATA_DIR: join(dir, 'data'),
      MUSTER_API_PORT: String(port),
      MUSTER_DATABASE_URL: database.url,
      MUSTER_TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}`,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const last: string[] = [];
  if (child.stdout) createInterface(child.stdout).on('line', (line) => last.push(line) > 20 && last.shift());
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await database.close();
    await rm(dir, { recursive: true, force: true });
  };
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/v3/options`).then(
      async (response) => (await response.arrayBuffer()) && response.ok,
      () => false,
    );
  await eventually('the API answers', answers).catch(async (error) => {
    await stop();
    throw new Error(`${error}; its log says:\n${last.join('\n')}`);
  });
  if (child.pid === undefined) throw new Error('no process');
  return { port, pid: child.pid, database, stop };
}
