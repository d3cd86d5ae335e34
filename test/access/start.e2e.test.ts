import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { freePort } from '../support/free-port.ts';
import { makeCertificates } from '../support/git/git-http-server.ts';
import { processEnvironment } from '../support/stack/process-environment.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'api', 'main.ts');

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-start-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** The API as a process without any server behind it. */
async function start(settings: Record<string, string>) {
  const [port, database, temporal] = await Promise.all([freePort(), freePort(), freePort()]);
  return spawn(process.execPath, [MAIN], {
    env: {
      ...processEnvironment(),
      HOME: dir,
      MUSTER_DATA_DIR: join(dir, 'data'),
      MUSTER_API_PORT: String(port),
      MUSTER_DATABASE_URL: `postgres://nobody@127.0.0.1:${database}/none`,
      MUSTER_TEMPORAL_ADDRESS: `127.0.0.1:${temporal}`,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Lines of the log until it listens. */
async function linesUntilListening(settings: Record<string, string>): Promise<string[]> {
  const child = await start(settings);
  const lines: string[] = [];
  try {
    for await (const line of createInterface(child.stdout)) {
      lines.push(line);
      if (line.includes('"listening"')) return lines;
    }
    throw new Error(`it ended: ${await text(child.stderr)}`);
  } finally {
    const ended = child.exitCode === null ? once(child, 'exit') : null;
    child.kill('SIGKILL');
    await ended;
  }
}

test.each<[Record<string, string>, RegExp]>([
  [{ MUSTER_API_HOST: '0.0.0.0' }, /MUSTER_API_HOST: is not loopback/],
  [
    { MUSTER_AUTH: 'token', MUSTER_TLS_CERT: '/nowhere', MUSTER_TLS_KEY: '/nowhere' },
    /MUSTER_TLS_CERT: \/nowhere cannot be read/,
  ],
  [{ MUSTER_AUTH: 'token', MUSTER_TLS_CERT: '/nowhere' }, /MUSTER_TLS_CERT: needs MUSTER_TLS_KEY too/],
])('%j does not start and says why, without a stack trace', async (settings, words) => {
  const child = await start(settings);
  const [error, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect([code, error]).toEqual([2, expect.stringMatching(words)]);
  expect(error).not.toMatch(/\n\s+at /);
});

test('tokens that would cross the network in the clear are said at the start', async () => {
  const lines = await linesUntilListening({ MUSTER_AUTH: 'token', MUSTER_API_HOST: '0.0.0.0' });
  expect(lines.join('\n')).toContain('tokens cross the network in the clear');
  expect((await linesUntilListening({ MUSTER_AUTH: 'token' })).join('\n')).not.toContain('in the clear');
});

test('a key that others may read is said at the start, and nothing about the network', async () => {
  makeCertificates(dir);
  await chmod(join(dir, 'server.key'), 0o644);
  const lines = await linesUntilListening({
    MUSTER_AUTH: 'token',
    MUSTER_API_HOST: '0.0.0.0',
    MUSTER_TLS_CERT: join(dir, 'server.pem'),
    MUSTER_TLS_KEY: join(dir, 'server.key'),
  });
  expect(lines.join('\n')).toContain('others may read');
  expect(lines.join('\n')).not.toContain('in the clear');
});
