import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SupervisedProcess } from '../../../deploy/stack/supervised-process.ts';
import { eventually } from '../../support/eventually.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-supervised-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** Keeps a program running that lives for 50 ms; `lives` is how often it was healthy: a look now and then would miss that. */
function supervise(logFile: string) {
  let lives = 0;
  let last = '';
  const supervised: SupervisedProcess = new SupervisedProcess(
    {
      name: 'worker',
      file: '/bin/sleep',
      args: ['0.05'],
      env: {},
      cwd: '/',
      logFile,
      address: null,
      version: null,
      probe: async () => null,
      stop: { signal: 'SIGTERM', graceMs: 1_000, forceSignal: 'SIGKILL' },
    },
    () => {
      const { state } = supervised.state;
      if (state === 'healthy' && last !== state) lives += 1;
      last = state;
    },
  );
  return { supervised, lives: () => lives };
}

test('a folder of logs that somebody removed is made again', async () => {
  const logs = join(dir, 'logs');
  const { supervised, lives } = supervise(join(logs, 'worker.log'));
  supervised.start();
  await eventually('a second start', () => lives() >= 2);
  await rm(logs, { recursive: true });
  const before = lives();
  await eventually('one more', () => lives() > before);
  await supervised.stop();
});

test('a start that fails is tried again, and says why', async () => {
  const inTheWay = join(dir, 'logs');
  await writeFile(inTheWay, '');
  const { supervised, lives } = supervise(join(inTheWay, 'worker.log'));
  supervised.start();
  await eventually('it waits for its next start', () => supervised.state.state === 'restarting');
  expect(supervised.state.reason).toMatch(/^could not be started: E.*next start in/);
  await rm(inTheWay);
  await eventually('it is there', () => lives() > 0);
  await supervised.stop();
  expect(supervised.state.state).toBe('stopped');
});

/** Says each half second that it lives, also after a TERM; `ill` is what it says is wrong once it is told. */
const BEATS = `
  let ill = null;
  setInterval(() => process.send({ type: 'alive', ill }), 200);
  process.on('SIGUSR2', () => { ill = 'it takes no work'; });
  process.on('SIGTERM', () => undefined);
  process.send('ready');
`;

function beating(hungAfterMs: number): SupervisedProcess {
  return new SupervisedProcess(
    {
      name: 'worker',
      file: process.execPath,
      args: ['-e', BEATS],
      env: {},
      cwd: '/',
      logFile: join(dir, 'beating.log'),
      address: null,
      version: null,
      stop: { signal: 'SIGTERM', graceMs: 100, forceSignal: 'SIGKILL' },
    },
    () => undefined,
    hungAfterMs,
  );
}

test.each(['SIGSTOP', 'SIGUSR2'] as const)(
  'a process that tells itself that it lives and hangs (%s) is ill, then another takes its place',
  async (signal) => {
    const supervised = beating(8_000);
    supervised.start();
    await eventually('it is there', () => supervised.state.state === 'healthy', 30_000);
    const pid = supervised.state.process?.pid ?? 0;
    process.kill(pid, signal);
    await eventually('it is ill', () => supervised.state.state === 'unhealthy', 30_000);
    expect(supervised.state.reason).toMatch(signal === 'SIGSTOP' ? /has said nothing for/ : /it takes no work/);
    expect(supervised.state.process?.pid).toBe(pid);
    await eventually(
      'another is there',
      () => supervised.state.state === 'healthy' && supervised.state.process?.pid !== pid,
      60_000,
    );
    expect(supervised.state.last_exit).toMatch(/was killed by SIGKILL: it has not moved for/);
    expect(supervised.state.restarts).toBe(1);
    await supervised.stop();
  },
  240_000,
);

test('a process that says what it lacks is not replaced, however long that lasts', async () => {
  const supervised = new SupervisedProcess(
    {
      name: 'api',
      file: '/bin/sleep',
      args: ['600'],
      env: {},
      cwd: '/',
      logFile: join(dir, 'lacks.log'),
      address: null,
      version: null,
      probe: async () => 'no database',
      stop: { signal: 'SIGTERM', graceMs: 1_000, forceSignal: 'SIGKILL' },
    },
    () => undefined,
    1,
  );
  supervised.start();
  await eventually('it was looked at', () => supervised.state.reason === 'no database');
  const pid = supervised.state.process?.pid;
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(supervised.state.process?.pid).toBe(pid);
  await supervised.stop();
});
