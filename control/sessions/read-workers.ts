import type { Connection } from '@temporalio/client';
import {
  type EngineQueue,
  type Poller,
  type WorkersAtWork,
  workersAtWork,
} from '../../domain/sessions/workers-at-work.ts';
import { askInTime, HEALTH_MS } from '../temporal/ask-in-time.ts';

/** Workers ask for workflows whatever else they do, so that these tell who is there (temporal.api.enums.v1.TaskQueueType). */
const WORKFLOWS = 1;
const ACTIVITIES = 2;

/**
 * The workers that take up what is on a queue.
 * @throws when the engine does not answer in 2.5 s
 */
export async function readWorkers(
  connection: Connection,
  { namespace, queue, now }: { namespace: string; queue: string; now: Date },
): Promise<WorkersAtWork> {
  return workersAtWork(await readPolls(connection, { namespace, queue }), now);
}

/**
 * Who has asked for work of a queue, and when last.
 * @throws when the engine does not answer in 2.5 s
 */
export async function readPolls(
  connection: Connection,
  { namespace, queue }: { namespace: string; queue: string },
): Promise<Poller[]> {
  return pollersOf(
    await askInTime(connection, HEALTH_MS, () =>
      connection.workflowService.describeTaskQueue({ namespace, taskQueue: { name: queue }, taskQueueType: WORKFLOWS }),
    ),
  );
}

/**
 * What waits in queues, and who has asked for work of each.
 * @throws when the engine does not answer in 2.5 s
 */
export async function readQueues(
  connection: Connection,
  { namespace, queues }: { namespace: string; queues: readonly string[] },
): Promise<EngineQueue[]> {
  return await Promise.all(queues.map((queue) => readQueue(connection, { namespace, queue })));
}

async function readQueue(
  connection: Connection,
  { namespace, queue }: { namespace: string; queue: string },
): Promise<EngineQueue> {
  const describe = (taskQueueType: number) =>
    connection.workflowService.describeTaskQueue({
      ...{ namespace, taskQueue: { name: queue }, taskQueueType },
      reportStats: true,
    });
  const both = await askInTime(connection, HEALTH_MS, () => Promise.all([WORKFLOWS, ACTIVITIES].map(describe)));
  return {
    name: queue,
    depth: both.reduce((total, { stats }) => total + Number(stats?.approximateBacklogCount ?? 0), 0),
    oldestSeconds: Math.max(...both.map(({ stats }) => Number(stats?.approximateBacklogAge?.seconds ?? 0))),
    // A queue of activities alone has no pollers of workflows.
    pollers: both.map(pollersOf).find((pollers) => pollers.length > 0) ?? [],
  };
}

type Described = Awaited<ReturnType<Connection['workflowService']['describeTaskQueue']>>;

const pollersOf = (described: Described | undefined): Poller[] =>
  (described?.pollers ?? []).map(({ identity, lastAccessTime }) => ({
    identity: identity ?? '',
    askedAt: new Date(Number(lastAccessTime?.seconds ?? 0) * 1_000 + (lastAccessTime?.nanos ?? 0) / 1e6),
  }));
