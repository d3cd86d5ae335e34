/** A reconcile whose machine is away: it waits for the machine, until somebody gives the run up. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { operatorMachineQueueOf } from '../../../domain/engine/task-queues.ts';
import { runGivenUp } from '../../../workflows/operator/messages.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestWorker } from '../../support/stack/session-bench.ts';
import { openDevServer, type TestServer, workflowBundle } from '../../support/temporal/workflow-environment.ts';

let server: TestServer;
let stop: () => Promise<void>;
const taskQueue = 'given-up';
const finished: string[] = [];
beforeAll(async () => {
  server = await openDevServer();
  stop = await startTestWorker(server.environment, {
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: {
      finishReconcile: async ({ reconcileId }: { reconcileId: string }) => void finished.push(reconcileId),
    },
  });
});
afterAll(async () => {
  await stop();
  await server.close();
});

const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
const start = (n: number, machine: string) =>
  server.environment.client.workflow.start('operatorReconcileWorkflow', {
    workflowId: `given-up-${n}`,
    taskQueue,
    args: [{ reconcileId: id(n), machine }],
  });

test('ends by its last step at once, though nobody takes its first', async () => {
  const handle = await start(1, 'away');
  await eventually('it waits for its machine', async () => (await handle.describe()).status.name === 'RUNNING');
  expect(finished).not.toContain(id(1));
  await handle.signal(runGivenUp);
  await handle.result();
  expect(finished).toEqual([id(1)]);
});

test('in its run: the last step follows while the run goes on elsewhere, and what the run comes to is not waited for', async () => {
  const machine = 'slow';
  let begun = false;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const stopMachine = await startTestWorker(server.environment, {
    taskQueue: operatorMachineQueueOf(machine),
    activities: {
      prepareReconcile: async () => ({ runs: true }),
      runReconcile: async () => {
        begun = true;
        await held;
        throw new Error('too late');
      },
    },
  });
  const handle = await start(2, machine);
  await eventually('its run has begun', () => begun);
  const shown = (await handle.query('__temporal_workflow_metadata')) as { currentDetails?: string };
  expect(shown.currentDetails).toBe('machine slow runs it');
  await handle.signal(runGivenUp);
  await handle.result();
  expect(finished.at(-1)).toBe(id(2));
  release();
  await stopMachine();
});
