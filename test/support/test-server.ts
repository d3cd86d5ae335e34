import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { findProgram } from './find-program.ts';
import { freePort } from './free-port.ts';

const CACHE = process.env.MUSTER_CACHE_DIR ?? join(homedir(), '.cache', 'muster');

/** Why Temporal's time-skipping test server cannot be started here, `null` when it can. */
export function testServerMissing(): string | null {
  return testServerBinary() === null
    ? 'the time-skipping test server is not installed (it needs Java and Maven): run through "npm test"'
    : null;
}

/** Named by the set-up, else from the cache. */
function testServerBinary(): string | null {
  return process.env.MUSTER_TEST_SERVER_BINARY ?? cachedBinary();
}

function cachedBinary(): string | null {
  if (findProgram('java') === null || !existsSync(CACHE)) return null;
  const folder = readdirSync(CACHE).find((name) => /^temporal-test-server-[0-9.]+$/.test(name));
  return folder === undefined ? null : join(CACHE, folder, 'temporal-test-server');
}

/** Starts a test server on a free port of 127.0.0.1; resolves when it takes connections. */
export async function startTestServer(): Promise<{ port: number; stop(): void }> {
  const path = testServerBinary();
  if (path === null) throw new Error(testServerMissing() ?? '');
  const port = await freePort();
  const server = spawn(path, [String(port)], { stdio: 'ignore' });
  const stop = () => void server.kill('SIGKILL');
  process.once('exit', stop);
  await eventually(
    'the test server takes connections',
    async () => {
      if (server.exitCode !== null) throw new Error(`the test server ended with ${server.exitCode}`);
      return takesConnections(port);
    },
    90_000,
  );
  return { port, stop };
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const answer = (yes: boolean) => {
      socket.destroy();
      resolve(yes);
    };
    socket.once('connect', () => answer(true));
    socket.once('error', () => answer(false));
  });
}
