/**
 * The work of an AppContext. Its row is the intention; the workflow runs what is wanted and ends with it, so nothing stays open for a deployment
 * that merely exists.
 *
 *  1. begin the phase that the row wants (apply, delete); nothing is wanted: the end
 *  2. run it on each cluster by a child of its own, a limited number at once; a cluster that is away holds no place among them, and asks
 *     for a place when it is back
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
import { clusterReturns, clusterWaits, lookAgain, takePlace, wakeContext } from './messages.ts';

const { beginPhase, finishPhase } = proxyActivities<ContextActivities>({
  startToCloseTimeout: '1m',
  // A step of the database alone: it is tried until it is done.
  retry: { initialInterval: '1s', maximumInterval: '20s' },
});

/** Most clusters that are shown by their names. */
const MOST_NAMES = 20;

/** Rest before the work on a cluster begins again that was lost, ms. */
const AFTER_LOSS_MS = 5_000;

export interface ContextInput {
  context: string;
}

type Child = ChildWorkflowHandle<typeof clusterGroupsWorkflow>;

interface Running {
  /** The work that is open, by cluster. */
  children: Map<string, Child>;
  /** Clusters that hold a place among those at work. */
  atWork: Set<string>;
  /** Clusters that had no place yet. */
  queued: Set<string>;
  /** Clusters that are back and have asked for a place. */
  returned: Set<string>;
  /** Places. */
  parallel: number;
  /** What the phase is, as it is shown. */
  title: string;
}

export async function appContextWorkflow({ context }: ContextInput): Promise<void> {
  const running: Running = {
    ...{ children: new Map(), atWork: new Set(), queued: new Set(), returned: new Set() },
    ...{ parallel: 1, title: '' },
  };
  let wakes = 0;
  setHandler(
    wakeContext,
    () => {
      wakes += 1;
      for (const child of running.children.values()) void passOn(child);
    },
    { description: 'Something was asked of the AppContext: its row says what.' },
  );
  setHandler(clusterWaits, ({ cluster }) => void running.atWork.delete(cluster), {
    description: 'A cluster is away: it holds no place any more.',
  });
  setHandler(clusterReturns, ({ cluster }) => void givePlace(cluster, running), {
    description: 'A cluster is back: it gets a place as soon as one is free.',
  });

  for (;;) {
    const heard = wakes;
    const phase = await beginPhase({ context });
    if (phase === null) {
      // A call that came meanwhile may want something again.
      if (wakes === heard) return;
      continue;
    }
    running.title = `${phase.phase}: ${phase.clusters.length} clusters`;
    await runOnClusters(context, phase, running);
    running.title = '';
    tell(running);
    await finishPhase({ context, phase: phase.phase });
  }
}

/** Runs a phase on its clusters, each in its turn. */
async function runOnClusters(
  context: string,
  { clusters, parallel, ...phase }: PhaseToRun,
  running: Running,
): Promise<void> {
  const { atWork, queued, returned } = running;
  running.parallel = parallel;
  tell(running);
  await Promise.all(
    clusters.map(async (work) => {
      queued.add(work.cluster);
      if (atWork.size >= parallel) tell(running);
      // Asked again: others may have been let in by the same change.
      while (atWork.size >= parallel) await condition(() => atWork.size < parallel);
      queued.delete(work.cluster);
      atWork.add(work.cluster);
      tell(running);
      try {
        await runOnCluster(context, phase, work, running);
      } finally {
        atWork.delete(work.cluster);
        returned.delete(work.cluster);
        tell(running);
      }
    }),
  );
}

/** Shows which clusters wait for a place; what the others wait for is shown by the work on each. */
function tell({ title, queued, returned }: Running): void {
  const parts = [
    ['wait for a first place', queued],
    ['are back and wait for a place', returned],
  ] as const;
  const lines = parts.filter(([, clusters]) => clusters.size > 0).map(([what, all]) => `${what}: ${namesOf(all)}`);
  setCurrentDetails([title, ...lines].join('\n\n'));
}

function namesOf(clusters: ReadonlySet<string>): string {
  const names = [...clusters].slice(0, MOST_NAMES).join(', ');
  return clusters.size > MOST_NAMES ? `${names} and ${clusters.size - MOST_NAMES} more` : names;
}

async function runOnCluster(
  context: string,
  { phase, queue }: Pick<PhaseToRun, 'phase' | 'queue'>,
  { cluster, apps }: PhaseToRun['clusters'][number],
  { children, atWork }: Running,
): Promise<void> {
  for (;;) {
    try {
      const more = {
        ...(atWork.has(cluster) ? {} : { hasPlace: false }),
        ...(queue === undefined ? {} : { queue }),
      };
      const child = await startChild(clusterGroupsWorkflow, {
        workflowId: clusterWorkflowId(context, phase, cluster),
        args: [{ context, phase, cluster, apps: apps.map((app) => ({ app, waits: 0 })), ...more }],
        staticSummary: `${phase} on ${cluster}`,
      });
      children.set(cluster, child);
      return await child.result();
    } catch (error) {
      if (isCancellation(error)) throw error;
      log.warn('the work on a cluster was lost', { cluster, cause: String(error) });
    } finally {
      children.delete(cluster);
    }
    await sleep(AFTER_LOSS_MS, { summary: `rest before ${cluster} begins again` });
  }
}

/** Gives a cluster that is back a place as soon as there is one, unless its work has ended meanwhile. */
async function givePlace(cluster: string, running: Running): Promise<void> {
  const { atWork, returned, children } = running;
  if (returned.has(cluster)) return;
  returned.add(cluster);
  tell(running);
  const isFull = () => !atWork.has(cluster) && atWork.size >= running.parallel;
  while (isFull() && returned.has(cluster)) await condition(() => !isFull() || !returned.has(cluster));
  if (!returned.delete(cluster)) return;
  atWork.add(cluster);
  tell(running);
  // Work that is lost holds the place when it begins again.
  await children
    .get(cluster)
    ?.signal(takePlace)
    .catch(() => undefined);
}

/** A child that has just ended needs to hear nothing. */
async function passOn(child: Child): Promise<void> {
  await child.signal(lookAgain).catch(() => undefined);
}
