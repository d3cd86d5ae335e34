import type { Connection } from '@temporalio/client';
import { type Poller, type WorkersAtWork, workersAtWork } from '../../domain/sessions/workers-at-work.ts';
import { askInTime, HEALTH_MS } from '../temporal/ask-in-time.ts';

/** Workers ask for workflows whatever else they do, so that these tell who is there (temporal.api.enums.v1.TaskQueueType). */
const WORKFLOWS = 1;

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
  const { pollers } = await askInTime(connection, HEALTH_MS, () =>
    connection.workflowService.describeTaskQueue({ namespace, taskQueue: { name: queue }, taskQueueType: WORKFLOWS }),
  );
  return (pollers ?? []).map(
    ({ identity, lastAccessTime }): Poller => ({
      identity: identity ?? '',
      askedAt: new Date(Number(lastAccessTime?.seconds ?? 0) * 1_000 + (lastAccessTime?.nanos ?? 0) / 1e6),
    }),
  );
}
