/** A worker for member clusters alone, beside the worker of a stack. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
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
  }, 120_000);
  afterAll(async () => {
    worker?.kill('SIGKILL');
    await stack?.remove();
  }, 60_000);

  const pollers = async (): Promise<Record<string, number | null>> => {
    const { queues }: System = (await stack.call('GET', '/api/v1/system')).body;
    return Object.fromEntries(queues.map(({ name, pollers: count }) => [name, count]));
  };

  test('asks for the work at member clusters and for nothing else, and stops when it is told to', async () => {
    const both = { [MAIN_QUEUE]: 1, [DEPLOYMENTS_QUEUE]: 1 };
    const areSeen = async (counts: object) => {
      const seen = await pollers();
      return Object.entries(counts).every(([queue, count]) => seen[queue] === count);
    };
    await eventually('the worker of the stack asks for both', () => areSeen(both), 60_000, pollers);
    worker = spawn(process.execPath, [join(ROOT, 'worker', 'main.ts')], {
      env: { ...stack.env, MUSTER_DATABASE_URL: await stack.databaseUrl(), MUSTER_WORKER_ROLE: 'deployments' },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const ended = once(worker, 'exit');
    const isThere = () => areSeen({ ...both, [DEPLOYMENTS_QUEUE]: 2 });
    await eventually('another one asks for the work at member clusters', isThere, 90_000, pollers);
    worker.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  }, 180_000);
});
