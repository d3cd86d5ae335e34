import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort } from '../support/free-port.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { processEnvironment } from '../support/stack/process-environment.ts';

const ROOT = join(import.meta.dirname, '..', '..');

let dir: string;
let database: TestDatabase;
let api: ChildProcess;
let base: string;
let gate: { open(): Promise<void>; close(): Promise<void> };
let logLines: string[];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-test-server-'));
  database = await createTestDatabase();
  const [apiPort, gatePort, temporalPort] = await Promise.all([freePort(), freePort(), freePort()]);
  base = `http://127.0.0.1:${apiPort}`;
  const url = new URL(database.url);
  gate = createGate(gatePort, Number(url.port));
  url.port = String(gatePort);
  logLines = [];
  api = spawn(process.execPath, [join(ROOT, 'api', 'main.ts')], {
    env: {
      ...processEnvironment(),
      HOME: dir,
      MUSTER_DATA_DIR: join(dir, 'data'),
      MUSTER_API_PORT: String(apiPort),
      MUSTER_DATABASE_URL: url.href,
      MUSTER_TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}`,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (api.stdout === null) throw new Error('no output');
  const lines = createInterface(api.stdout);
  lines.on('line', (line) => logLines.push(line));
  await until('the listening line', async () => logLines.some((line) => JSON.parse(line).msg === 'listening'));
});
afterAll(async () => {
  api.kill('SIGKILL');
  await gate.close();
  await database.close();
  await rm(dir, { recursive: true, force: true });
});

/** A way to the database that can be opened and cut. */
function createGate(port: number, target: number) {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  return {
    open: async () => {
      server = createServer((inner) => {
        const outer = connect(target, '127.0.0.1');
        for (const socket of [inner, outer]) {
          sockets.add(socket);
          socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
        }
        inner.pipe(outer).pipe(inner);
      });
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      if (server?.listening) await new Promise((resolve) => server?.close(resolve));
    },
  };
}

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 240_000; Date.now() < end; await pause(50)) {
    if (await condition()) return;
  }
  throw new Error(`${what} did not come; the log says:\n${logLines.slice(-20).join('\n')}`);
}

async function statusOf(path: string): Promise<number> {
  const response = await fetch(base + path);
  await response.body?.cancel();
  return response.status;
}

test('starts without its servers, recovers when the database comes, goes and comes again, and stops cleanly', async () => {
  expect(await statusOf('/v3/options')).toBe(503);
  expect(await (await fetch(`${base}/healthz`)).json()).toEqual({
    db_status: 'not_available',
    kafka_status: 'not_available',
  });

  await gate.open();
  await until('an answer', async () => (await statusOf('/v3/options')) === 200);
  await until('the key pair for ssh', async () => {
    const { secrets } = (await (await fetch(`${base}/api/v1/secrets`)).json()) as { secrets: { name: string }[] };
    return secrets.some((secret) => secret.name === 'muster-ssh');
  });
  expect((await stat(join(dir, 'data', 'secret.key'))).mode & 0o777).toBe(0o600);
  await until('the shipped ansible.cfg', async () => {
    const folder = join(dir, 'data', 'configmaps', 'services', 'cfs-default-ansible-cfg');
    const names: string[] = await readdir(folder).catch(() => []);
    return names.includes('ansible.cfg');
  });

  await gate.close();
  await until('the 503', async () => (await statusOf('/v3/components')) === 503);
  await gate.open();
  await until('an answer', async () => (await statusOf('/v3/components')) === 200);

  const status = (await (await fetch(`${base}/api/v1/status`)).json()) as { engine: { ok: boolean; reason: string } };
  expect(status.engine.ok).toBe(false);
  expect(status.engine.reason).toContain('Temporal does not answer');

  api.kill('SIGTERM');
  const [code] = await once(api, 'exit');
  expect(code).toBe(0);
});
