/** Brings reconciles of an operator to their ends. */
import { operatorMachineQueueOf } from '../../../../domain/engine/task-queues.ts';
import { eventually } from '../../eventually.ts';
import { startTestWorker } from '../../stack/session-bench.ts';
import { workflowBundle } from '../workflow-environment.ts';
import type { Histories, Recorded } from './recorded.ts';

/** One reconcile on a machine of its own. */
const reconcile =
  (name: string, runs: boolean): Recorded =>
  async ({ environment }) => {
    const taskQueue = `test-${name}`;
    const machine = `machine-${name}`;
    const stopMachine = await startTestWorker(environment, {
      taskQueue: operatorMachineQueueOf(machine),
      activities: { prepareReconcile: async () => ({ runs }), runReconcile: async () => undefined },
    });
    const stop = await startTestWorker(environment, {
      taskQueue,
      workflowBundle: await workflowBundle(),
      activities: { finishReconcile: async () => undefined },
    });
    const input = { reconcileId: '00000000-0000-4000-8000-000000000001', machine };
    await environment.client.workflow.execute('operatorReconcileWorkflow', { workflowId: name, taskQueue, args: [input] });
    await stop();
    await stopMachine();
    return name;
  };

/** Three passes, of which the second follows on time and the third on a word; then it is ended from outside. */
const dispatcher: Recorded = async ({ environment }) => {
  const workflowId = 'operator-dispatcher';
  const taskQueue = `test-${workflowId}`;
  let passes = 0;
  const stop = await startTestWorker(environment, {
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: {
      dispatchReconciles: async () => {
        passes += 1;
        return { nextMs: passes === 1 ? 20 : null };
      },
    },
  });
  const start = { workflowId, taskQueue, args: [{ operator: 'test' }] };
  const handle = await environment.client.workflow.start('operatorDispatcherWorkflow', start);
  await eventually('two passes', () => passes === 2);
  await handle.signal('resourcesDue');
  await eventually('three passes', () => passes === 3);
  await handle.terminate('recorded');
  await stop();
  return workflowId;
};

export const OPERATOR_HISTORIES: Histories = {
  'operator-reconcile': reconcile('operator-reconcile', true),
  'operator-nothing-to-run': reconcile('operator-nothing-to-run', false),
  'operator-dispatcher': dispatcher,
};
