import { spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { COMPONENT_NAMES } from '../../../deploy/stack/stack-state.ts';
import { SEARCH_ATTRIBUTES } from '../../../domain/engine/search-attributes.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { TestStack } from './test-stack.ts';

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describeNeeding(temporalMissing(), 'a stack that is up', () => {
  let stack: TestStack;

  beforeAll(async () => {
    stack = await TestStack.create();
    await stack.up();
  });
  afterAll(async () => stack.remove());

  /** Its state as soon as all is well: on a busy machine an answer of a part may come too late now and then. */
  const running = () =>
    eventually(
      'it runs',
      async () => {
        const state = await stack.status();
        return state.state === 'running' && state;
      },
      60_000,
      () => stack.status(),
    );

  test('reports every part as healthy, with version and address', async () => {
    const state = await running();
    expect(state).toMatchObject({ state: 'running', reason: null });
    expect(Object.keys(state.components).sort()).toEqual([...COMPONENT_NAMES].sort());
    for (const part of Object.values(state.components)) expect(part).toMatchObject({ state: 'healthy', reason: null });
    expect(state.components.postgres?.version).toMatch(/^18\./);
    expect(state.components.temporal?.address).toBe(`127.0.0.1:${stack.env.MUSTER_TEMPORAL_PORT}`);
  });

  test('keeps its state and passwords from other users', async () => {
    for (const name of ['stack.json', 'postgres-passwords.json']) {
      expect((await stat(join(stack.dataDir, name))).mode & 0o777).toBe(0o600);
    }
    expect((await stat(stack.dataDir)).mode & 0o007).toBe(0);
    const { database } = await stack.addresses();
    expect(await readFile(join(stack.dataDir, 'stack.json'), 'utf8')).not.toContain(new URL(database).password);
  });

  test('gives API and worker a database role without rights over the server', async () => {
    expect(await stack.sql('select rolsuper from pg_roles where rolname = current_user')).toEqual([
      { rolsuper: false },
    ]);
    await expect(stack.sql("select pg_read_file('/etc/passwd')")).rejects.toThrow('permission denied');
  });

  test('commits to disk before it answers', async () => {
    expect(await stack.sql('show synchronous_commit')).toEqual([{ synchronous_commit: 'on' }]);
    expect(await stack.sql('show fsync')).toEqual([{ fsync: 'on' }]);
  });

  test('has the search attributes registered', async () => {
    const found = await stack.temporal((client) =>
      client.connection.operatorService.listSearchAttributes({ namespace: 'default' }),
    );
    expect(Object.keys(found.customAttributes ?? {})).toEqual(expect.arrayContaining([...SEARCH_ATTRIBUTES]));
  });

  test('is not started a second time on the same data directory', async () => {
    expect(await stack.start()).toMatchObject({ outcome: 'already_running' });
    const other = spawn(process.execPath, [join(import.meta.dirname, 'stand-ins', 'stack.ts')], {
      env: stack.env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let text = '';
    other.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    const status = await new Promise((resolve) => other.once('close', resolve));
    expect(status).toBe(5);
    expect(text).toContain('runs already');
    await running();
  });

  test('runs beside another one', async () => {
    const second = await TestStack.create();
    try {
      await second.up();
      await second.sql('create table only_here (id int)');
      await expect(stack.sql('select * from only_here')).rejects.toThrow('does not exist');
      await running();
    } finally {
      await second.remove();
    }
    await running();
  });

  test('is restarted part by part when one is killed', async () => {
    for (const name of COMPONENT_NAMES) {
      const before = await stack.status();
      const pid = await stack.pidOf(name);
      process.kill(pid, 'SIGKILL');
      const after = await stack.untilRestarted(name, pid);
      expect(after.components[name]).toMatchObject({ restarts: 1, last_exit: 'was killed by SIGKILL' });
      for (const other of COMPONENT_NAMES.filter((candidate) => candidate !== name)) {
        expect(after.components[other]?.process).toEqual(before.components[other]?.process);
      }
    }
    expect(await stack.sql('select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('stops, leaves no process and says so', async () => {
    const { components } = await stack.status();
    expect(await stack.stop()).toEqual({ outcome: 'stopped' });
    for (const part of Object.values(components)) expect(alive(part.process?.pid ?? 0)).toBe(false);
    const state = await stack.status();
    expect(state.state).toBe('stopped');
    for (const part of Object.values(state.components)) expect(part).toMatchObject({ state: 'stopped', process: null });
    expect(await stack.stop()).toEqual({ outcome: 'not_running' });
  });
});
