import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { always, type FakeApi, problem, startFakeApi } from '../support/fakes/fake-api.ts';
import { processEnvironment } from '../support/stack/process-environment.ts';

const MAIN = join(import.meta.dirname, '../../cli/main.ts');
/** More than a pipe of the kernel holds. */
const LOG = 'x'.repeat(300_000);

let api: FakeApi;
let folder: string;
let shell: ChildProcess | undefined;

beforeEach(async () => {
  api = await startFakeApi();
  folder = await mkdtemp(join(tmpdir(), 'muster-output-'));
  api.on('GET /api/v1/sessions/s1/logs', (_request, response) => void response.end(LOG));
  api.on(
    'POST /api/v1/tokens',
    always(201, { name: 'reader-1', role: 'reader', token: 'muster_secret', expires_at: null }),
  );
});
afterEach(async () => {
  shell?.kill('SIGKILL');
  await api.close();
  await rm(folder, { recursive: true });
});

/** Runs words of a shell, in which `muster` is the command line; answers its exit status and what it said. */
async function inShell(script: string) {
  const started = spawn('sh', ['-c', `muster() { "$NODE" "$MAIN" "$@"; }\n${script}`], {
    cwd: folder,
    env: { ...processEnvironment(), NODE: process.execPath, MAIN, MUSTER_URL: api.url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  shell = started;
  const [[status], out, err] = await Promise.all([once(started, 'exit'), text(started.stdout), text(started.stderr)]);
  return { status: status as number | null, out: out.trim(), err };
}

describe('a pipe', () => {
  test('gets everything, however slowly it is read', async () => {
    const { out } = await inShell('muster session logs s1 | (sleep 2; wc -c)');
    expect(out).toBe(String(LOG.length));
  });

  test('on stderr gets everything too', async () => {
    api.on('GET /api/v1/sessions/s2', (_request, response) => problem(response, 'bad_request', LOG));
    const { out } = await inShell('muster session get s2 2>&1 >/dev/null | (sleep 2; wc -c)');
    expect(Number(out)).toBeGreaterThan(LOG.length);
  });

  test('whose reader is gone is no failure, and hides none', async () => {
    const ended = await inShell('(muster session logs s1; echo $? >&2) | true');
    expect(ended.err).toBe('0\n');
    const { err } = await inShell('(muster session get nobody; echo $? >&2) | true');
    expect(err).toMatch(/^error: not_found: .*\n3\n$/s);
  });

  test('that nobody reads is left at Ctrl-C', async () => {
    // Once something is in the pipe the program hears signals: those in the background of a shell are deaf to this one at first.
    const script =
      'mkfifo p; exec 3<>p; "$NODE" "$MAIN" session logs s1 >p & head -c 1 <&3 >/dev/null; sleep 1; kill -INT $!; wait $!; echo $?';
    expect((await inShell(script)).out).toBe('130');
  });
});

describe('a file', () => {
  test('gets everything', async () => {
    const { status, err } = await inShell('muster session logs s1 > log');
    expect([status, err, (await readFile(join(folder, 'log'))).length]).toEqual([0, '', LOG.length]);
  });

  test('on a full disk is a failure', async () => {
    const { status, err } = await inShell('muster session logs s1 > /dev/full');
    expect(status).toBe(1);
    expect(err).toMatch(/^error: output_not_written: ENOSPC: no space left on device\n/);
  });

  test('that takes a part only is a failure', async () => {
    const { status, err } = await inShell('ulimit -f 100; muster session logs s1 > log');
    expect(status).toBe(1);
    expect(err).toMatch(/^error: output_not_written: EFBIG/);
  });

  test('that does not take a new token is a failure which says that the token exists', async () => {
    const { status, err } = await inShell('muster token create --role reader > /dev/full');
    expect(status).toBe(1);
    expect(err).toContain(
      'error: output_not_written: ENOSPC: no space left on device; token reader-1 exists all the same\n',
    );
    expect(err).toContain('./muster token revoke reader-1');
    expect(err).not.toContain('created');
  });

  test('for messages that is full ends nothing', async () => {
    const { status, out } = await inShell('muster token create --role reader 2> /dev/full');
    expect([status, out]).toEqual([0, 'muster_secret']);
  });
});
