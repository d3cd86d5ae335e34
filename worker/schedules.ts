import { type Client, ScheduleAlreadyRunning, type ScheduleOptions } from '@temporalio/client';
import { MAIN_QUEUE } from '../domain/sessions/task-queues.ts';

const SWEEP: ScheduleOptions = {
  scheduleId: 'muster-sweep',
  spec: { intervals: [{ every: '1m' }] },
  policies: { overlap: 'SKIP', catchupWindow: '1m' },
  action: {
    type: 'startWorkflow',
    workflowType: 'sweepWorkflow',
    workflowId: 'sweep',
    taskQueue: MAIN_QUEUE,
    args: [],
    workflowExecutionTimeout: '15m',
    staticSummary: 'compares records and workflows, ends what nobody owns',
  },
};

/** Makes the schedules, or brings those that exist to what the code says. */
export async function reconcileSchedules(client: Client): Promise<void> {
  try {
    await client.schedule.create(SWEEP);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const { spec, policies, action } = SWEEP;
    await client.schedule.getHandle(SWEEP.scheduleId).update((previous) => ({
      ...previous,
      spec,
      ...(policies ? { policies } : {}),
      action: { ...action, workflowId: 'sweep' },
    }));
  }
}

/** Keeps the schedules there: a Temporal server that lost its store gets them again within a minute. */
export function keepSchedules(client: Client, log: { warn(fields: object, message: string): void }): () => void {
  const check = async () => {
    try {
      await client.schedule.getHandle(SWEEP.scheduleId).describe();
    } catch {
      await reconcileSchedules(client).catch((error) => log.warn({ err: String(error) }, 'schedules not reconciled'));
    }
  };
  const timer = setInterval(check, 30_000);
  timer.unref();
  return () => clearInterval(timer);
}
