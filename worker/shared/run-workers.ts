/**
 * The workers of one process: one on the queue of all, one on that of this machine, one for the cluster where there is one, and one for each lane
 * with a queue of its own.
 */
import { type NativeConnection, Worker } from '@temporalio/worker';
import { CLUSTER_HOST, hostQueueOf, MAIN_QUEUE } from '../../domain/engine/task-queues.ts';
import type { workerOptions } from '../engine.ts';
import type { LaneParts } from './open-shared.ts';

/**
 * Activities at once where runs and Jobs are watched, for as long as they last, two for each session: that costs next to nothing, and the
 * short ones, by which sessions start, end and are cancelled, share these places. So there are more than any installation has sessions.
 */
const WATCHING_PLACES = 20_000;

export interface WorkersOptions {
  shared: ReturnType<typeof workerOptions> & { connection: NativeConnection };
  /** File of the workflows; null: this process works on the queues of its lanes' own alone. */
  codePath: string | null;
  /** Queue of this machine. */
  queue: string;
  lanes: readonly LaneParts[];
}

/** Makes the workers; none polls yet. */
export async function createWorkers({ shared, codePath, queue, lanes }: WorkersOptions): Promise<Worker[]> {
  const workers = codePath === null ? [] : await createCommon({ shared, codePath, queue, lanes });
  for (const { own } of lanes) {
    if (own === undefined) continue;
    workers.push(
      await Worker.create({
        ...shared,
        taskQueue: own.queue,
        activities: { ...own.activities },
        maxConcurrentActivityTaskExecutions: own.places,
      }),
    );
  }
  return workers;
}

type CommonOptions = WorkersOptions & { codePath: string };

async function createCommon({ shared, codePath, queue, lanes }: CommonOptions): Promise<Worker[]> {
  const of = (place: 'main' | 'machine' | 'cluster'): Record<string, unknown> =>
    Object.assign({}, ...lanes.map((lane) => lane[place] ?? {}));
  const workers = [
    await Worker.create({
      ...shared,
      taskQueue: MAIN_QUEUE,
      workflowBundle: { codePath },
      activities: of('main'),
      // A clone waits for the network, not for a core.
      maxConcurrentActivityTaskExecutions: 50,
      // Queued sessions sleep in the engine; holding more of them here would only cost memory.
      maxCachedWorkflows: 200,
    }),
    await Worker.create({
      ...shared,
      taskQueue: queue,
      activities: of('machine'),
      // The runner itself limits how many playbooks there are.
      maxConcurrentActivityTaskExecutions: WATCHING_PLACES,
    }),
  ];
  if (lanes.some(({ cluster }) => cluster !== undefined)) {
    workers.push(
      await Worker.create({
        ...shared,
        taskQueue: hostQueueOf(CLUSTER_HOST),
        activities: of('cluster'),
        maxConcurrentActivityTaskExecutions: WATCHING_PLACES,
      }),
    );
  }
  return workers;
}
