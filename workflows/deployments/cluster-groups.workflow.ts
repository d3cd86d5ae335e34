/**
 * One phase of an AppContext on one cluster: its apps beside each other, each a group.
 *
 *  1. do what is left of the group: apply or delete, in order, until all is done or the cluster is away
 *  2. away: wait, longer each time, or until the cluster is heard of or something else is asked; then again from 1. The AppContext is told
 *     that nothing is at work here, so that another cluster may begin
 *  3. back, without a place among the clusters at work: ask for it, and go on from 1 when it is given
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
import { clusterReturns, clusterWaits, lookAgain, takePlace } from './messages.ts';

const GROUP = {
  // As long as its resources take; a worker that is lost is noticed by its heartbeat.
  startToCloseTimeout: '1d',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '10s' },
} as const;

/**
 * Longest wait of a group for a worker of the queue of its own, whose workers may have gone back to an older release. Then this work fails, and
 * the AppContext begins it again, on a queue that its own worker knows. No other command may follow here: an older release could not replay it.
 * It is long, since workers that are merely busy look the same from here, and groups at work are broken off.
 */
const NOT_TAKEN = '1h';

export interface ClusterGroupsInput {
  context: string;
  phase: Phase;
  /** `<provider>+<cluster>` */
  cluster: string;
  apps: OpenGroup[];
  /** Events after which it continues as new; default: when the server suggests it. */
  maxEvents?: number;
  /** False: it holds no place among the clusters at work; default: it does. */
  hasPlace?: boolean;
  /** Queue of the work on groups; default: that of this workflow. */
  queue?: string;
}

interface OpenGroup {
  app: string;
  /** Waits that have passed without a success. */
  waits: number;
}

export async function clusterGroupsWorkflow(input: ClusterGroupsInput): Promise<void> {
  const { apps, maxEvents, hasPlace: hadPlace = true, queue, ...work } = input;
  const onQueue = queue === undefined ? {} : { taskQueue: queue, scheduleToStartTimeout: NOT_TAKEN };
  const { applyGroup, deleteGroup } = proxyActivities<ContextActivities>({ ...GROUP, ...onQueue });
  let looks = 0;
  setHandler(
    lookAgain,
    () => {
      looks += 1;
    },
    { description: 'The cluster answers, or something else is asked: all groups look again.' },
  );
  const doGroup = work.phase === 'apply' ? applyGroup : deleteGroup;
  const waiting = new Set<string>();
  const ended = new Set<string>();
  /** What is shown of each group that has not ended. */
  const shown = new Map<string, string>();
  /** Groups whose call goes on, and those that wait for a place. */
  const atWork = new Set<string>();
  const back = new Set<string>();
  let hasPlace = hadPlace;
  let isAsked = false;
  /** Places that were given back to it. */
  let given = 0;
  setHandler(
    takePlace,
    () => {
      hasPlace = true;
      isAsked = false;
      given += 1;
      // The cluster may be away again.
      void tellWaiting();
    },
    { description: 'The cluster holds a place among those at work again.' },
  );
  const isFull = () => {
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    return continueAsNewSuggested || (maxEvents !== undefined && historyLength > maxEvents);
  };

  /** Says what a group does or waits for; empty: it has ended. */
  function show(app: string, text: string): void {
    if (text === '') shown.delete(app);
    else shown.set(app, text.slice(0, 500));
    setCurrentDetails([...shown.values()].join('\n\n'));
  }

  /** Gives the place away when nothing is at work here. The AppContext may be gone: then it needs to hear nothing. */
  async function tellWaiting(): Promise<void> {
    const { parent } = workflowInfo();
    if (!hasPlace || parent === undefined || waiting.size === 0 || waiting.size + ended.size < apps.length) return;
    // Groups that have waited before count as waiting while they try again: work that never asked for a place goes on as it was recorded.
    if (given > 0 && atWork.size + back.size > 0) return;
    hasPlace = false;
    await getExternalWorkflowHandle(parent.workflowId)
      .signal(clusterWaits, { cluster: work.cluster })
      .catch(() => undefined);
  }

  async function askForPlace(): Promise<void> {
    const { parent } = workflowInfo();
    if (hasPlace || isAsked || parent === undefined) return;
    isAsked = true;
    await getExternalWorkflowHandle(parent.workflowId)
      .signal(clusterReturns, { cluster: work.cluster })
      .catch(() => undefined);
  }

  /** Returns the group where it still waits when the history is full; null when it has ended. */
  async function runGroup({ app, waits: before }: OpenGroup): Promise<OpenGroup | null> {
    let waits = before;
    for (;;) {
      const heard = looks;
      atWork.add(app);
      show(app, `${app} is ${waits > 0 || waiting.has(app) ? 'tried again' : 'at work'} on ${work.cluster}`);
      const answer = await doGroup({ ...work, app, waits, hasPlace });
      atWork.delete(app);
      waiting.delete(app);
      if (answer.is === 'ended') {
        ended.add(app);
        show(app, '');
        await tellWaiting();
        return null;
      }
      waiting.add(app);
      show(app, `${app} waits for ${work.cluster}: ${answer.reason} ${answer.message}`);
      if (answer.hasMoved) waits = 0;
      if (answer.counts) waits += 1;
      if (answer.isBack === true) {
        back.add(app);
        await askForPlace();
        if (isFull()) return { app, waits };
        await condition(() => hasPlace || looks !== heard);
        back.delete(app);
        continue;
      }
      await tellWaiting();
      if (isFull()) return { app, waits };
      await condition(() => looks !== heard, answer.waitMs, { summary: 'until the next look' });
    }
  }

  const left = (await Promise.all(apps.map(runGroup))).filter((group) => group !== null);
  if (left.length === 0) return;
  await continueAsNew<typeof clusterGroupsWorkflow>({
    ...{ ...work, apps: left },
    ...(maxEvents === undefined ? {} : { maxEvents }),
    ...(hasPlace ? {} : { hasPlace }),
    ...(queue === undefined ? {} : { queue }),
  });
}
