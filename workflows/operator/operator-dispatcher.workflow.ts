/**
 * Begins reconciles of one operator, for as long as it is there.
 *
 *  1. admit what is due to the places that are free
 *  2. wait for word of something due or of a free place, or for the earliest time that is set, then again from 1
 *
 * What is due is in the database: a workflow that is lost is started again, and has forgotten nothing.
 *
 * History: some 10 events a round.
 */
import {
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { OperatorActivities } from '../../activities/operator/contract.ts';
import type { OperatorRef } from '../../domain/operator/activity-schema.ts';
import { resourcesDue } from './messages.ts';

const { dispatchReconciles } = proxyActivities<OperatorActivities>({
  startToCloseTimeout: '2m',
  heartbeatTimeout: '30s',
  retry: { initialInterval: '500ms', maximumInterval: '10s' },
});

const ROUNDS = 200;

export async function operatorDispatcherWorkflow({ operator }: OperatorRef): Promise<void> {
  let isTold = false;
  setHandler(
    resourcesDue,
    () => {
      isTold = true;
    },
    { description: 'A resource may be due, or a place free.' },
  );
  for (let round = 0; ; round += 1) {
    isTold = false;
    const { nextMs } = await dispatchReconciles({ operator });
    setCurrentDetails(`looks again in ${Math.ceil(nextMs / 1000)} s, or when it is told`);
    await condition(() => isTold, Math.max(1, nextMs), { summary: 'until the next look' });
    if (round >= ROUNDS || workflowInfo().continueAsNewSuggested)
      await continueAsNew<typeof operatorDispatcherWorkflow>({ operator });
  }
}
