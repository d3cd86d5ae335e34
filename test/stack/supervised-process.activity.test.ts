import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SupervisedProcess } from '../../deploy/stack/supervised-process.ts';
import { eventually } from '../support/eventually.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-supervised-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** Keeps a program running that lives for 50 ms. */
const supervise = (logFile: string) =>
  new SupervisedProcess(
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
    () => undefined,
  );

test('a folder of logs that somebody removed is made again', async () => {
  const logs = join(dir, 'logs');
  const supervised = supervise(join(logs, 'worker.log'));
  supervised.start();
  await eventually('a second start', () => supervised.state.restarts >= 1 && supervised.state.state === 'healthy');
  await rm(logs, { recursive: true });
  const { restarts } = supervised.state;
  await eventually('one more', () => supervised.state.restarts > restarts && supervised.state.state === 'healthy');
  await supervised.stop();
});

test('a start that fails is tried again, and says why', async () => {
  const inTheWay = join(dir, 'logs');
  await writeFile(inTheWay, '');
  const supervised = supervise(join(inTheWay, 'worker.log'));
  supervised.start();
  await eventually('it waits for its next start', () => supervised.state.state === 'restarting');
  expect(supervised.state.reason).toMatch(/^could not be started: E.*next start in/);
  await rm(inTheWay);
  await eventually('it is there', () => supervised.state.state === 'healthy');
  await supervised.stop();
  expect(supervised.state.state).toBe('stopped');
});
