import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError, type ScheduleOptions } from '@temporalio/client';
import { engineSentence } from '../control/temporal/engine-sentence.ts';
import { sealFor } from '../domain/engine/seal.ts';
import { MAIN_QUEUE } from '../domain/engine/task-queues.ts';
import { isMusterError } from '../domain/errors.ts';

/** A start that is this late is left out: the next one does the same. */
const CATCH_UP = '1m';

type Every = '2m' | '10m';

interface Started {
  workflowType: string;
  workflowId: string;
  timeout: '15m' | '40m';
  summary: string;
}

/** A schedule that a lane needs. */
export type LaneSchedule = ReturnType<typeof every>;

/**
 * Returns a schedule of a workflow without input. Each start is a workflow more in Temporal's web UI, between those of sessions.
 * `wanted`: false where this installation has none, so that a schedule of before is removed; default: true.
 */
export function every(scheduleId: string, interval: Every, started: Started, { wanted = true } = {}) {
  const { workflowType, workflowId, timeout, summary } = started;
  return {
    wanted,
    options: {
      scheduleId,
      spec: { intervals: [{ every: interval }] },
      policies: { overlap: 'SKIP', catchupWindow: CATCH_UP },
      action: {
        type: 'startWorkflow',
        workflowType,
        workflowId,
        taskQueue: MAIN_QUEUE,
        args: [sealFor('schedule', workflowId)],
        workflowExecutionTimeout: timeout,
        staticSummary: summary,
      },
    } satisfies ScheduleOptions,
  };
}

/** Makes the schedules, or brings those that exist to what the code says, and removes what is switched off. */
export async function reconcileSchedules(client: Client, schedules: readonly LaneSchedule[]): Promise<void> {
  for (const { wanted, options } of schedules) {
    if (wanted) await reconcile(client, options);
    else await remove(client, options.scheduleId);
  }
}

async function remove(client: Client, scheduleId: string): Promise<void> {
  try {
    await client.schedule.getHandle(scheduleId).delete();
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}

async function reconcile(client: Client, wanted: LaneSchedule['options']): Promise<void> {
  try {
    await client.schedule.create(wanted);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const { scheduleId, spec, policies, action } = wanted;
    const handle = client.schedule.getHandle(scheduleId);
    try {
      await handle.update((previous) => ({ ...previous, spec, policies, action }));
    } catch (refused) {
      if (!isMusterError(refused) || refused.code !== 'payload_refused') throw refused;
      // Somebody else has written it, or a release that signed nothing.
      await handle.delete();
      await client.schedule.create(wanted);
    }
  }
}

/** Keeps the schedules there: a Temporal server that lost its store gets them again within a minute. */
export function keepSchedules(
  client: Client,
  log: { warn(fields: object, message: string): void },
  schedules: readonly LaneSchedule[],
): () => void {
  const check = async () => {
    for (const { options } of schedules.filter(({ wanted }) => wanted)) {
      try {
        await client.schedule.getHandle(options.scheduleId).describe();
      } catch {
        await reconcile(client, options).catch((error) =>
          log.warn({ err: engineSentence(error) }, 'schedule not reconciled'),
        );
      }
    }
  };
  const timer = setInterval(check, 30_000);
  timer.unref();
  return () => clearInterval(timer);
}
