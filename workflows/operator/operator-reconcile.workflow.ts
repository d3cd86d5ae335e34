/**
 * One reconcile of one custom resource.
 *
 *  1. on the machine that was chosen: read the resource, decide, say in its status that it runs, make the directory of the run
 *  2. there, where it runs: bring the run to its end
 *  3. on any machine of the operator: write status and finalizers, end the record, set the next time
 *
 * All that is decided is on record, so that each step may be repeated. A machine that is away is waited for: nobody else knows whether its run
 * goes on. Somebody may give its run up by a cancel; then the last step follows at once.
 *
 * History: at most 30 events.
 */
import { condition, proxyActivities, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { OperatorActivities, OperatorMachineActivities } from '../../activities/operator/contract.ts';
import { operatorMachineQueueOf } from '../../domain/engine/task-queues.ts';
import type { ReconcileRef } from '../../domain/operator/activity-schema.ts';
import { runGivenUp } from './messages.ts';

const RETRY = { initialInterval: '1s', maximumInterval: '10s' } as const;

export interface ReconcileInput extends ReconcileRef {
  machine: string;
}

export async function operatorReconcileWorkflow({ reconcileId, machine }: ReconcileInput): Promise<void> {
  const taskQueue = operatorMachineQueueOf(machine);
  const { prepareReconcile } = proxyActivities<OperatorMachineActivities>({
    taskQueue,
    startToCloseTimeout: '10m',
    heartbeatTimeout: '30s',
    retry: RETRY,
  });
  const { runReconcile } = proxyActivities<OperatorMachineActivities>({
    taskQueue,
    startToCloseTimeout: '30d',
    heartbeatTimeout: '30s',
    retry: RETRY,
  });
  const { finishReconcile } = proxyActivities<OperatorActivities>({
    startToCloseTimeout: '10m',
    heartbeatTimeout: '30s',
    retry: RETRY,
  });
  let isGivenUp = false;
  setHandler(
    runGivenUp,
    () => {
      isGivenUp = true;
    },
    { description: 'The reconcile was cancelled while its machine is away.' },
  );
  const onMachine = async () => {
    setCurrentDetails(`machine ${machine} reads the resource`);
    const { runs } = await prepareReconcile({ reconcileId });
    if (!runs || isGivenUp) return;
    setCurrentDetails(`machine ${machine} runs it`);
    await runReconcile({ reconcileId });
  };
  await Promise.race([onMachine(), condition(() => isGivenUp)]);
  setCurrentDetails(isGivenUp ? 'the run was given up: writes the end' : 'writes the end');
  await finishReconcile({ reconcileId });
  setCurrentDetails('over');
}
