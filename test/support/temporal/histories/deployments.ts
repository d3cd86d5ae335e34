/** Brings the work of AppContexts to its ends, each in its own way, so that histories can be recorded. */
import type { GroupAnswer, PhaseToRun } from '../../../../activities/deployments/contract.ts';
import type { GroupRef } from '../../../../domain/deployments/activity-schema.ts';
import { clusterWorkflowId, contextWorkflowId } from '../../../../domain/deployments/workflow-id.ts';
import { wakeContext } from '../../../../workflows/deployments/messages.ts';
import { eventually } from '../../eventually.ts';
import { startTestWorker } from '../../stack/session-bench.ts';
import { workflowBundle } from '../workflow-environment.ts';
import type { Histories, Recorded } from './recorded.ts';

const away: GroupAnswer = {
  ...{ is: 'away', waitMs: 200, reason: 'Unreachable', message: 'no connection', hasMoved: false, counts: true },
};
const phase = (word: PhaseToRun['phase'], ...clusters: string[]): PhaseToRun => ({
  ...{ phase: word, parallel: 1, clusters: clusters.map((cluster) => ({ cluster, apps: ['agent', 'store'] })) },
});

interface Way {
  context: string;
  phases: (PhaseToRun | null)[];
  /** What each call of a group answers, by its number from 1 and what it was asked. */
  group(number: number, asked: GroupRef): GroupAnswer | Promise<GroupAnswer>;
  /** The AppContext is woken in this call. */
  wokenAt?: number;
  /** A queue of the groups: with a worker, or without. */
  own?: 'served' | 'away';
  /** Id of the workflow whose history is recorded; default: that of the AppContext. */
  recorded?: string;
}

const context =
  (name: string, { context: id, phases, group, wokenAt, own, recorded }: Way): Recorded =>
  async ({ environment }) => {
    const taskQueue = `test-${name}`;
    const queue = `${taskQueue}-${own}`;
    const workflowId = contextWorkflowId(id);
    const { client } = environment;
    const left = own === undefined ? [...phases] : phases.map((phase) => phase && { ...phase, queue });
    let calls = 0;
    const work = async (asked: GroupRef) => {
      calls += 1;
      const number = calls;
      if (number === wokenAt) await client.workflow.getHandle(workflowId).signal(wakeContext);
      return await group(number, asked);
    };
    const groups = { applyGroup: work, deleteGroup: work };
    const stop = await startTestWorker(environment, {
      ...{ taskQueue, workflowBundle: await workflowBundle() },
      activities: {
        beginPhase: async () => left.shift() ?? null,
        finishPhase: async () => undefined,
        ...(own === undefined ? groups : {}),
      },
    });
    const stopGroups = own === 'served' && (await startTestWorker(environment, { taskQueue: queue, activities: groups }));
    const handle = await client.workflow.start('appContextWorkflow', { workflowId, taskQueue, args: [{ context: id }] });
    if (own === 'away') {
      const lost = client.workflow.getHandle(recorded ?? workflowId);
      const hasFailed = async () => (await lost.describe().catch(() => null))?.status.name === 'FAILED';
      await eventually('no worker has taken it', hasFailed);
      await handle.terminate();
    } else await handle.result();
    await stop();
    if (stopGroups) await stopGroups();
    return recorded ?? workflowId;
  };

/** A cluster that is away, is back while another one has its place, and gets a place again when that one has ended. */
function backForAPlace(id: string): Omit<Way, 'recorded'> {
  const back = Promise.withResolvers<void>();
  return {
    context: id,
    phases: [phase('apply', 'lab+north', 'lab+south')],
    group: async (_, { cluster, waits, hasPlace }) => {
      if (cluster === 'lab+south') {
        await back.promise;
        return { is: 'ended' };
      }
      if (hasPlace === false) {
        back.resolve();
        return { ...away, waitMs: 60_000, reason: 'Waiting', counts: false, isBack: true };
      }
      return waits === 0 ? { ...away, waitMs: 2_000 } : { is: 'ended' };
    },
  };
}

export const DEPLOYMENT_HISTORIES: Histories = {
  /** Two clusters after each other, a wake in between, then the deletion from one of them. */
  'app-context': context('app-context', {
    context: '11',
    phases: [phase('apply', 'lab+north', 'lab+south'), phase('delete', 'lab+north')],
    group: () => ({ is: 'ended' }),
    wokenAt: 2,
  }),
  /** A cluster that is away twice, and then takes everything. */
  'cluster-groups-away': context('cluster-groups-away', {
    context: '12',
    phases: [phase('apply', 'lab+north')],
    group: (number) => (number <= 3 ? away : { is: 'ended' }),
    recorded: clusterWorkflowId('12', 'apply', 'lab+north'),
  }),
  /** Groups on a queue of their own: the parent, a child, and a child whose groups no worker took. */
  'app-context-own-queue': context('app-context-own-queue', {
    ...{ context: '15', phases: [phase('apply', 'lab+north')], own: 'served' },
    group: () => ({ is: 'ended' }),
  }),
  'cluster-groups-own-queue': context('cluster-groups-own-queue', {
    ...{ context: '16', phases: [phase('apply', 'lab+north')], own: 'served' },
    group: (number) => (number <= 2 ? away : { is: 'ended' }),
    recorded: clusterWorkflowId('16', 'apply', 'lab+north'),
  }),
  'cluster-groups-not-taken': context('cluster-groups-not-taken', {
    ...{ context: '17', phases: [phase('apply', 'lab+north')], own: 'away' },
    group: () => ({ is: 'ended' }),
    recorded: clusterWorkflowId('17', 'apply', 'lab+north'),
  }),
  'app-context-returns': context('app-context-returns', backForAPlace('13')),
  'cluster-groups-back': context('cluster-groups-back', {
    ...backForAPlace('14'),
    recorded: clusterWorkflowId('14', 'apply', 'lab+north'),
  }),
};
