import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readStackState } from '../../../deploy/stack/stack-state.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { TestStack } from './test-stack.ts';

describeNeeding(temporalMissing(), 'a stack that cannot start', () => {
  let stack: TestStack;

  beforeEach(async () => {
    stack = await TestStack.create();
  });
  afterEach(async () => stack.remove());

  test('names every busy port and the setting that moves it', async () => {
    const ports = [stack.env.MUSTER_POSTGRES_PORT, stack.env.MUSTER_TEMPORAL_UI_PORT].map(Number);
    const servers = ports.map((port) => createServer().listen(port, '127.0.0.1'));
    try {
      const result = await stack.start();
      expect(result).toMatchObject({ outcome: 'failed', exit: 2 });
      const message = result.outcome === 'failed' ? result.message : '';
      expect(message).toContain(`port ${ports[0]} of 127.0.0.1 is in use (set MUSTER_POSTGRES_PORT)`);
      expect(message).toContain(`port ${ports[1]} of 127.0.0.1 is in use (set MUSTER_TEMPORAL_UI_PORT)`);
      expect(message).not.toContain(`port ${stack.env.MUSTER_API_PORT}`);
    } finally {
      for (const server of servers) server.close();
    }
    await stack.up();
  });

  test('names a setting that is wrong', async () => {
    stack.env.MUSTER_API_PORT = 'seven';
    expect(await stack.start()).toMatchObject({
      outcome: 'failed',
      exit: 2,
      message: expect.stringContaining('MUSTER_API_PORT'),
    });
  });

  test('names a data directory that is a file', async () => {
    const other = await TestStack.create();
    await rm(other.dataDir, { recursive: true });
    await writeFile(other.dataDir, '');
    expect(await other.start()).toMatchObject({
      outcome: 'failed',
      exit: 2,
      message: expect.stringContaining(`The data directory ${other.dataDir} cannot be used`),
    });
    await rm(other.dataDir);
  });

  test('does not touch a database of another major version', async () => {
    await stack.up();
    await stack.stop();
    const versionFile = join(stack.dataDir, 'postgres', 'PG_VERSION');
    await writeFile(versionFile, '17\n');
    expect(await stack.start()).toMatchObject({
      outcome: 'failed',
      exit: 2,
      message: expect.stringContaining('was made by PostgreSQL 17'),
    });
    expect(readStackState(stack.dataDir)).toMatchObject({ state: 'failed' });
    await writeFile(versionFile, '18\n');
    await stack.up();
  });

  test('gives up on a part that never comes up, names its log and leaves nothing running', async () => {
    const result = await stack.start('broken-stack');
    expect(result).toMatchObject({ outcome: 'failed', exit: 1 });
    const message = result.outcome === 'failed' ? result.message : '';
    expect(message).toContain('api does not start: it ended with status 3');
    expect(await readFile(join(stack.dataDir, 'logs', 'api.log'), 'utf8')).toContain('no schema');
    for (const part of Object.values((await stack.status()).components)) expect(part.process).toBeNull();
  });

  test('says what a part waits for that does not come up, goes on waiting, and ends at Ctrl-C', async () => {
    const interrupt = new AbortController();
    const waits = 'api is not up yet: /healthz answers 503: no database';
    const lines: string[] = [];
    const onProgress = (line: string): void => {
      lines.push(line);
      // Before, a busy machine may say that the API has not told yet what it waits for.
      if (line === waits) interrupt.abort();
    };
    const result = await stack.start('waiting-stack', { onProgress, signal: interrupt.signal });
    expect(lines).toContain(waits);
    expect(result).toMatchObject({ outcome: 'failed', exit: 130 });
  });

  test('finishes what a start left half done', async () => {
    const first = spawn(process.execPath, [join(import.meta.dirname, 'stand-ins', 'stack.ts')], {
      env: stack.env,
      stdio: 'ignore',
    });
    // Or made already, where the machine left this process no time to see it.
    await eventually('the database is being made', async () =>
      readdirSync(stack.dataDir)
        .filter((name) => /^postgres(\.new-.*)?$/.test(name))
        .some((name) => existsSync(join(stack.dataDir, name, 'PG_VERSION'))),
    );
    first.kill('SIGKILL');
    await stack.up();
    expect(await stack.sql('select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('is one of two at the same moment: it waits for the other, and both answer when it is up', async () => {
    const results = await Promise.all([stack.start(), stack.start()]);
    expect(results.map(({ outcome }) => outcome).sort()).toEqual(['already_running', 'started']);
    expect(results).toMatchObject([{ state: { state: 'running' } }, { state: { state: 'running' } }]);
  });

  test('stops what it started when it is interrupted at any moment, and says nothing is left', async () => {
    for (const file of [/^postgres(\.new-.*)?$/, /^postgres$/, /^temporal\.db$/]) {
      const other = await TestStack.create();
      // It never comes up by itself.
      const first = spawn(process.execPath, [join(import.meta.dirname, 'stand-ins', 'waiting-stack.ts')], {
        env: other.env,
        stdio: 'ignore',
      });
      const status = new Promise((resolve) => first.once('exit', resolve));
      await eventually(`there is ${file}`, () => readdirSync(other.dataDir).some((name) => file.test(name)));
      first.kill('SIGINT');
      expect(await status).toBe(130);
      for (const part of Object.values((await other.status()).components)) expect(part.process).toBeNull();
      await other.remove();
    }
  });

  test('is interrupted while the web UI is still being built: it was no start', async () => {
    const first = spawn(process.execPath, [join(import.meta.dirname, 'stand-ins', 'building-stack.ts')], {
      env: stack.env,
      stdio: 'ignore',
    });
    const status = new Promise((resolve) => first.once('exit', resolve));
    await eventually('all parts are up', async () => {
      const state = await stack.status().catch(() => null);
      return state?.state === 'running';
    });
    first.kill('SIGINT');
    expect(await status).toBe(130);
    const { state, components } = await stack.status();
    expect(state).toBe('stopped');
    for (const part of Object.values(components)) expect(part.process).toBeNull();
  });
});

const notRoot = process.getuid?.() === 0 ? null : 'only root starts Postgres as another user';
describeNeeding(temporalMissing() ?? notRoot, 'a stack of root', () => {
  test('runs Postgres as an unprivileged user, also below a folder that is closed to others', async () => {
    const closed = await mkdtemp(join(tmpdir(), 'muster-closed-'));
    const stack = await TestStack.create(join(closed, 'data'));
    try {
      await stack.up();
      const status = await readFile(`/proc/${await stack.pidOf('postgres')}/status`, 'utf8');
      expect(status).toMatch(/^Uid:\t[1-9]/m);
      expect(await stack.sql('select 1 as one')).toEqual([{ one: 1 }]);
    } finally {
      await stack.remove();
      await rm(closed, { recursive: true, force: true });
    }
  });
});
