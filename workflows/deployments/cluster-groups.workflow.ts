/**
 * One phase of an AppContext on one cluster: its apps beside each other, each a group.
 *
 *  1. do what is left of the group: apply or delete, in order, until all is done or the cluster is away
 *  2. away: wait, longer each time, or until the cluster is heard of or something else is asked; then again from 1. The AppContext is told once
 *     that nothing is at work here
 *
 * The group decides by its rows whether it gives up: it was stopped, terminated, or its retries are used up. At the server's hint the workflow
 * continues as new with the groups that wait. History: some 12 events for a round of a group.
 */
import {
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { ContextActivities } from '../../activities/deployments/contract.ts';
import type { Phase } from '../../domain/deployments/context-state.ts';
import { clusterWaits, lookAgain } from './messages.ts';

const { applyGroup, deleteGroup } = proxyActivities<ContextActivities>({
  // As long as its resources take; a worker that is lost is noticed by its heartbeat.
  startToCloseTimeout: '1d',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '10s' },
});

export interface ClusterGroupsInput {
  context: string;
  phase: Phase;
  /** `<provider>+<cluster>` */
  cluster: string;
  apps: OpenGroup[];
  /** Events after which it continues as new; default: when the server suggests it. */
  maxEvents?: number;
}

interface OpenGroup {
  app: string;
  /** Waits that have passed without a success. */
  waits: number;
}

export async function clusterGroupsWorkflow({ apps, maxEvents, ...work }: ClusterGroupsInput): Promise<void> {
  let looks = 0;
  setHandler(
    lookAgain,
    () => {
      looks += 1;
    },
    { description: 'The cluster answers, or something else is asked: all groups look again.' },
  );
  const doGroup = work.phase === 'apply' ? applyGroup : deleteGroup;
  const waiting = new Map<string, string>();
  const ended = new Set<string>();
  let isTold = false;
  const isFull = () => {
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    return continueAsNewSuggested || (maxEvents !== undefined && historyLength > maxEvents);
  };

  /** The AppContext may be gone: then it needs to hear nothing. */
  async function tellWaiting(): Promise<void> {
    const { parent } = workflowInfo();
    if (isTold || parent === undefined || waiting.size === 0 || waiting.size + ended.size < apps.length) return;
    isTold = true;
    await getExternalWorkflowHandle(parent.workflowId)
      .signal(clusterWaits, { cluster: work.cluster })
      .catch(() => undefined);
  }

  /** Returns the group where it still waits when the history is full; null when it has ended. */
  async function runGroup({ app, waits: before }: OpenGroup): Promise<OpenGroup | null> {
    let waits = before;
    for (;;) {
      const heard = looks;
      const answer = await doGroup({ ...work, app, waits });
      waiting.delete(app);
      if (answer.is === 'ended') {
        ended.add(app);
        await tellWaiting();
        return null;
      }
      waiting.set(app, `${app} waits for ${work.cluster}: ${answer.reason} ${answer.message}`.slice(0, 500));
      setCurrentDetails([...waiting.values()].join('\n\n'));
      if (answer.hasMoved) waits = 0;
      if (answer.counts) waits += 1;
      await tellWaiting();
      if (isFull()) return { app, waits };
      await condition(() => looks !== heard, answer.waitMs);
    }
  }

  const left = (await Promise.all(apps.map(runGroup))).filter((group) => group !== null);
  if (left.length === 0) return;
  await continueAsNew<typeof clusterGroupsWorkflow>({
    ...{ ...work, apps: left },
    ...(maxEvents === undefined ? {} : { maxEvents }),
  });
}
