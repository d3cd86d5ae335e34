/**
 * The work of an AppContext. Its row is the intention; the workflow runs what is wanted and ends with it, so nothing stays open for a deployment
 * that merely exists.
 *
 *  1. begin the phase that the row wants (apply, delete); nothing is wanted: the end
 *  2. run it on each cluster by a child of its own, a limited number at once; a cluster that is away holds no place among them
 *  3. when all have ended, write how the phase has ended; then again from 1
 *
 * A wake is handed on to the children: they look at the rows and give up what is not wanted any more. A child that is lost begins again: rows
 * know what is done. History: some 12 events for a cluster.
 */
import {
  type ChildWorkflowHandle,
  condition,
  isCancellation,
  log,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  startChild,
} from '@temporalio/workflow';
import type { ContextActivities, PhaseToRun } from '../../activities/deployments/contract.ts';
import { clusterWorkflowId } from '../../domain/deployments/workflow-id.ts';
import { clusterGroupsWorkflow } from './cluster-groups.workflow.ts';
import { clusterWaits, lookAgain, wakeContext } from './messages.ts';

const { beginPhase, finishPhase } = proxyActivities<ContextActivities>({
  startToCloseTimeout: '1m',
  // A step of the database alone: it is tried until it is done.
  retry: { initialInterval: '1s', maximumInterval: '20s' },
});

/** Rest before the work on a cluster begins again that was lost, ms. */
const AFTER_LOSS_MS = 5_000;

export interface ContextInput {
  context: string;
}

type Child = ChildWorkflowHandle<typeof clusterGroupsWorkflow>;

export async function appContextWorkflow({ context }: ContextInput): Promise<void> {
  const open = new Set<Child>();
  let wakes = 0;
  setHandler(
    wakeContext,
    () => {
      wakes += 1;
      for (const child of open) void passOn(child);
    },
    { description: 'Something was asked of the AppContext: its row says what.' },
  );

  /** Clusters that hold a place among those at work. */
  const atWork = new Set<string>();
  setHandler(clusterWaits, ({ cluster }) => void atWork.delete(cluster), {
    description: 'A cluster is away: it holds no place any more, also when it is back.',
  });

  for (;;) {
    const heard = wakes;
    const phase = await beginPhase({ context });
    if (phase === null) {
      // A call that came meanwhile may want something again.
      if (wakes === heard) return;
      continue;
    }
    setCurrentDetails(`${phase.phase}: ${phase.clusters.length} clusters`);
    await runOnClusters(context, phase, { open, atWork });
    await finishPhase({ context, phase: phase.phase });
  }
}

interface Running {
  open: Set<Child>;
  atWork: Set<string>;
}

/** Runs a phase on its clusters, each in its turn. */
async function runOnClusters(
  context: string,
  { phase, clusters, parallel }: PhaseToRun,
  running: Running,
): Promise<void> {
  const { atWork } = running;
  await Promise.all(
    clusters.map(async (work) => {
      // Asked again: others may have been let in by the same change.
      while (atWork.size >= parallel) await condition(() => atWork.size < parallel);
      atWork.add(work.cluster);
      try {
        await runOnCluster(context, phase, work, running);
      } finally {
        atWork.delete(work.cluster);
      }
    }),
  );
}

async function runOnCluster(
  context: string,
  phase: PhaseToRun['phase'],
  { cluster, apps }: PhaseToRun['clusters'][number],
  { open }: Running,
): Promise<void> {
  for (;;) {
    let child: Child | undefined;
    try {
      child = await startChild(clusterGroupsWorkflow, {
        workflowId: clusterWorkflowId(context, phase, cluster),
        args: [{ context, phase, cluster, apps: apps.map((app) => ({ app, waits: 0 })) }],
        staticSummary: `${phase} on ${cluster}`,
      });
      open.add(child);
      return await child.result();
    } catch (error) {
      if (isCancellation(error)) throw error;
      log.warn('the work on a cluster was lost', { cluster, cause: String(error) });
    } finally {
      if (child !== undefined) open.delete(child);
    }
    await sleep(AFTER_LOSS_MS, { summary: `rest before ${cluster} begins again` });
  }
}

/** A child that has just ended needs to hear nothing. */
async function passOn(child: Child): Promise<void> {
  await child.signal(lookAgain).catch(() => undefined);
}
