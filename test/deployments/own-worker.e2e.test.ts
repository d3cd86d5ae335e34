/** A worker for member clusters alone, beside the worker of a stack. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Connection } from '@temporalio/client';
import { DEPLOYMENTS_QUEUE, MAIN_QUEUE } from '../../domain/engine/task-queues.ts';
import type { System } from '../../domain/service/system-schema.ts';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';
import { ROOT } from '../support/source-tree.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

/** Kinds of work, as the engine counts them (temporal.api.enums.v1.TaskQueueType). */
const WORK = { workflows: 1, activities: 2 };

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

  /** What the process with this number has asked for. */
  const asks = (pid: number) =>
    stack.temporal(async ({ connection, options: { namespace } }) => {
      const { workflowService } = connection as Connection;
      const asked = [MAIN_QUEUE, DEPLOYMENTS_QUEUE].flatMap((name) =>
        Object.entries(WORK).map(async ([work, taskQueueType]) => {
          const { pollers } = await workflowService.describeTaskQueue({
            namespace,
            taskQueue: { name },
            taskQueueType,
          });
          return pollers?.some(({ identity }) => identity?.endsWith(`:${pid}`)) ? [`${work} of ${name}`] : [];
        }),
      );
      return (await Promise.all(asked)).flat();
    });
  const OWN = `activities of ${DEPLOYMENTS_QUEUE}`;
  const ALL = [`workflows of ${MAIN_QUEUE}`, `activities of ${MAIN_QUEUE}`, OWN];

  test('asks for the work at member clusters and for nothing else, and stops when it is told to', async () => {
    const first = await stack.pidOf('worker');
    await eventually(
      'the worker of the stack asks for both',
      async () => (await asks(first)).length === ALL.length,
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
      async () => (await asks(pid)).includes(OWN),
      90_000,
      () => asks(pid),
    );
    expect([await asks(first), await asks(pid)]).toEqual([ALL, [OWN]]);
    const { processes }: System = (await stack.call('GET', '/api/v1/system')).body;
    expect(processes.filter(({ host }) => host.endsWith(`:${pid}`))).toMatchObject([{ kind: 'worker' }]);
    worker.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  }, 480_000);
});
