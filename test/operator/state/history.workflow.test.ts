/** What a reconcile leaves in Temporal: a bound for its events and bytes, with the longest names and steps that are tried again. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { reconcileMemo, wantedReconcile } from '../../../control/operator/wanted-workflows.ts';
import { operatorMachineQueueOf } from '../../../domain/engine/task-queues.ts';
import { runGivenUp } from '../../../workflows/operator/messages.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestWorker } from '../../support/stack/session-bench.ts';
import { openDevServer, type TestServer, workflowBundle } from '../../support/temporal/workflow-environment.ts';

const EVENTS_MOST = 60;
const BYTES_MOST = 60_000;

let server: TestServer;
const stops: (() => Promise<void>)[] = [];
beforeAll(async () => {
  server = await openDevServer();
});
afterAll(async () => {
  for (const stop of stops) await stop();
  await server.close();
});

const OPERATOR = 'o'.repeat(63);
const MACHINE = 'history';
const taskQueue = 'operator-history';
const reconcile = (n: number) => ({
  ...{ id: `00000000-0000-4000-8000-00000000000${n}`, machine: MACHINE, isTold: false, version: `v${'1'.repeat(62)}` },
  ...{ uid: `00000000-0000-4000-9000-00000000000${n}`, kind: 'K'.repeat(63), namespace: 'n'.repeat(63) },
  name: 'w'.repeat(253),
});

async function work(runReconcile: () => Promise<void>): Promise<void> {
  const failed = new Set<string>();
  /** Fails once, with as much to say as a cluster has. */
  const again = (step: string) => {
    if (failed.has(step)) return;
    failed.add(step);
    throw new Error(`${step}: ${'x'.repeat(2_000)}`);
  };
  const isMachine = { taskQueue: operatorMachineQueueOf(MACHINE) };
  stops.push(
    await startTestWorker(server.environment, {
      ...isMachine,
      activities: {
        prepareReconcile: async ({ reconcileId }: { reconcileId: string }) => {
          again(`prepare ${reconcileId}`);
          return { runs: true };
        },
        runReconcile: async ({ reconcileId }: { reconcileId: string }) => {
          again(`run ${reconcileId}`);
          await runReconcile();
        },
      },
    }),
    await startTestWorker(server.environment, {
      taskQueue,
      workflowBundle: await workflowBundle(),
      activities: {
        finishReconcile: async ({ reconcileId }: { reconcileId: string }) => again(`finish ${reconcileId}`),
      },
    }),
  );
}

test('a reconcile has at most 60 events and 60 KB, whether it ends by itself or is given up', async () => {
  let begun = 0;
  const over = Promise.withResolvers<void>();
  await work(async () => {
    begun += 1;
    // The second one goes on until the test is over.
    if (begun > 1) await over.promise;
  });
  const start = async (n: number) => {
    const { workflowType, ...wanted } = wantedReconcile(OPERATOR, reconcile(n));
    const options = { ...wanted, taskQueue, memo: reconcileMemo(reconcile(n)) };
    return server.environment.client.workflow.start(workflowType, options);
  };
  try {
    const first = await start(1);
    await first.result();
    const second = await start(2);
    await eventually('its run has begun', () => begun === 2, 60_000);
    await second.signal(runGivenUp);
    await second.result();
    for (const handle of [first, second]) {
      const { historyLength, historySize, memo } = await handle.describe();
      expect(memo?.resource).toHaveLength(63 + 1 + 253);
      expect(historyLength).toBeGreaterThan(10);
      expect(historyLength).toBeLessThanOrEqual(EVENTS_MOST);
      expect(historySize ?? 0).toBeGreaterThan(1_000);
      expect(historySize ?? 0).toBeLessThanOrEqual(BYTES_MOST);
    }
  } finally {
    over.resolve();
  }
});
