import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { identify } from '../../../deploy/stack/process-identity.ts';
import { COMPONENT_NAMES } from '../../../deploy/stack/stack-state.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { TestStack } from './test-stack.ts';

describeNeeding(temporalMissing(), 'a stack that was killed', () => {
  let stack: TestStack;

  beforeAll(async () => {
    stack = await TestStack.create();
    await stack.up();
    await stack.sql('create table kept as select 7 as value');
    await stack.temporal((client) =>
      client.workflow.start('kept', { taskQueue: 'nobody', workflowId: 'kept', args: [] }),
    );
  });
  beforeEach(async () => {
    await stack.up();
  });
  afterAll(async () => stack.remove());

  const expectData = async (): Promise<void> => {
    expect(await stack.sql('select value from kept')).toEqual([{ value: 7 }]);
    const description = await stack.temporal((client) => client.workflow.getHandle('kept').describe());
    expect(description.status.name).toBe('RUNNING');
  };

  test('without its supervisor goes on, is reported, and is replaced by the next start', async () => {
    const before = await stack.status();
    process.kill(before.supervisor.pid, 'SIGKILL');
    await eventually('the supervisor is gone', async () => (await stack.status()).state === 'degraded');
    expect((await stack.status()).reason).toContain('supervisor was killed');
    await expectData();
    const after = await stack.up();
    for (const name of COMPONENT_NAMES) {
      expect(after.components[name]?.state).toBe('healthy');
      expect(after.components[name]?.process?.pid).not.toBe(before.components[name]?.process?.pid);
      expect(await identify(before.components[name]?.process?.pid ?? 0)).toBeNull();
    }
    await expectData();
  });

  test('without its supervisor can be stopped', async () => {
    const before = await stack.status();
    process.kill(before.supervisor.pid, 'SIGKILL');
    expect(await stack.stop()).toEqual({ outcome: 'stopped' });
    for (const part of Object.values(before.components)) expect(await identify(part.process?.pid ?? 0)).toBeNull();
    expect((await stack.status()).state).toBe('stopped');
  });

  test('as a whole starts again with all data', async () => {
    const { supervisor, components } = await stack.status();
    for (const pid of [supervisor.pid, ...Object.values(components).map((part) => part.process?.pid ?? 0)]) {
      process.kill(pid, 'SIGKILL');
    }
    await eventually('the supervisor is gone', async () => (await identify(supervisor.pid)) === null);
    await stack.up();
    await expectData();
  });

  test('starts although the pid in the old lock file of Postgres belongs to somebody else now', async () => {
    await stack.stop();
    await writeFile(join(stack.dataDir, 'postgres', 'postmaster.pid'), `${process.pid}\n${stack.dataDir}\n`);
    await stack.up();
    await expectData();
  });

  test('does not end processes whose pid was taken over by somebody else', async () => {
    await stack.stop();
    const bystander = spawn('sleep', ['600']);
    const state = await stack.status();
    const identity = { pid: bystander.pid ?? 0, start_time: '1', boot_id: state.supervisor.boot_id };
    const api = { ...state.components.api, state: 'healthy', process: identity };
    const forged = { ...state, state: 'running', supervisor: identity, components: { ...state.components, api } };
    await writeFile(join(stack.dataDir, 'stack.json'), JSON.stringify(forged));
    try {
      expect((await stack.status()).state).toBe('stopped');
      await stack.up();
      expect(bystander.exitCode).toBeNull();
      expect(bystander.signalCode).toBeNull();
    } finally {
      bystander.kill('SIGKILL');
    }
  });

  test('is not stopped while a run is active, unless runs are kept; the run goes on', async () => {
    const launcher = spawn('sleep', ['600']);
    try {
      const run = join(stack.dataDir, 'runs', '0b6c0000-0000-4000-8000-000000000000-1-0');
      await mkdir(run, { recursive: true });
      const claim = await eventually('the launcher runs', () => identify(launcher.pid ?? 0));
      await writeFile(join(run, 'claim'), JSON.stringify(claim));
      expect(await stack.stop()).toEqual({
        outcome: 'runs_active',
        runs: ['0b6c0000-0000-4000-8000-000000000000-1-0'],
      });
      await eventually('it goes on', async () => (await stack.status()).state === 'running');
      expect(await stack.stop(true)).toEqual({ outcome: 'stopped' });
      expect(launcher.exitCode).toBeNull();
      expect(launcher.signalCode).toBeNull();
    } finally {
      launcher.kill('SIGKILL');
    }
  });
});
