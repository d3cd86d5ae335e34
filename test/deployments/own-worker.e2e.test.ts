/** A worker for member clusters alone, beside the worker of a stack. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Connection } from '@temporalio/client';
import { readQueues } from '../../control/sessions/read-workers.ts';
import { DEPLOYMENTS_QUEUE, MAIN_QUEUE } from '../../domain/engine/task-queues.ts';
import type { System } from '../../domain/service/system-schema.ts';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';
import { ROOT } from '../support/source-tree.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

describeNeeding(stackMissing(), 'a worker of role deployments', () => {
  let stack: MusterStack;
  let worker: ChildProcess | undefined;
  beforeAll(async () => {
    stack = await startMusterStack();
  }, 180_000);
  afterAll(async () => {
    worker?.kill('SIGKILL');
    await stack?.remove();
  }, 120_000);

  /** Whether the process with this number has asked for work, by queue. */
  const asks = (pid: number) =>
    stack.temporal(async ({ connection, options: { namespace } }) => {
      const queues = await readQueues(connection as Connection, { namespace, queues: [MAIN_QUEUE, DEPLOYMENTS_QUEUE] });
      const isOurs = ({ identity }: { identity: string }) => identity.endsWith(`:${pid}`);
      return Object.fromEntries(queues.map(({ name, pollers }) => [name, pollers.some(isOurs)]));
    });
  const asksForAll = async (pid: number) => !Object.values(await asks(pid)).includes(false);

  test('asks for the work at member clusters and for nothing else, and stops when it is told to', async () => {
    const first = await stack.pidOf('worker');
    await eventually(
      'the worker of the stack asks for both',
      () => asksForAll(first),
      90_000,
      () => asks(first),
    );
    worker = spawn(process.execPath, [join(ROOT, 'worker', 'main.ts')], {
      env: { ...stack.env, MUSTER_DATABASE_URL: await stack.databaseUrl(), MUSTER_WORKER_ROLE: 'deployments' },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const ended = once(worker, 'exit');
    const pid = worker.pid ?? 0;
    await eventually(
      'another one asks for the work at member clusters',
      async () => (await asks(pid))[DEPLOYMENTS_QUEUE],
      90_000,
      () => asks(pid),
    );
    expect(await asks(pid)).toEqual({ [MAIN_QUEUE]: false, [DEPLOYMENTS_QUEUE]: true });
    const { processes }: System = (await stack.call('GET', '/api/v1/system')).body;
    expect(processes.filter(({ host }) => host.endsWith(`:${pid}`))).toMatchObject([{ kind: 'worker' }]);
    worker.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  }, 240_000);
});
