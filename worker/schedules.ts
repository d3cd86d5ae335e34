import { type Client, ScheduleAlreadyRunning, type ScheduleOptions } from '@temporalio/client';
import { MAIN_QUEUE } from '../domain/sessions/task-queues.ts';

/** A start that is this late is left out: the next one does the same. */
const CATCH_UP = '1m';

const TRUST_SCHEDULE = 'muster-trust';

const schedule = (
  scheduleId: string,
  every: '1m' | '2m' | '10m',
  {
    workflowType,
    workflowId,
    timeout,
    summary,
  }: Record<'workflowType' | 'workflowId' | 'summary', string> & {
    timeout: '15m' | '40m';
  },
) =>
  ({
    scheduleId,
    spec: { intervals: [{ every }] },
    policies: { overlap: 'SKIP', catchupWindow: CATCH_UP },
    action: {
      type: 'startWorkflow',
      workflowType,
      workflowId,
      taskQueue: MAIN_QUEUE,
      args: [],
      workflowExecutionTimeout: timeout,
      staticSummary: summary,
    },
  }) satisfies ScheduleOptions;

const SCHEDULES = [
  schedule('muster-sweep', '1m', {
    workflowType: 'sweepWorkflow',
    workflowId: 'sweep',
    timeout: '15m',
    summary: 'compares records and workflows, ends what nobody owns',
  }),
  schedule('muster-batcher', '1m', {
    workflowType: 'ensureBatcherWorkflow',
    workflowId: 'ensure-batcher',
    timeout: '15m',
    summary: 'starts the batcher where it does not run',
  }),
  schedule('muster-webhooks', '1m', {
    workflowType: 'wakeWebhooksWorkflow',
    workflowId: 'wake-webhooks',
    timeout: '15m',
    summary: 'goes on with what webhooks are to be told',
  }),
  // CFS promises five minutes; so one that fails does not break the promise.
  schedule('muster-session-ttl', '2m', {
    workflowType: 'expireSessionsWorkflow',
    workflowId: 'session-ttl',
    timeout: '40m',
    summary: 'deletes complete sessions older than option session_ttl',
  }),
  schedule(TRUST_SCHEDULE, '10m', {
    workflowType: 'renewTrustWorkflow',
    workflowId: 'trust',
    timeout: '15m',
    summary: 'renews the certificate with which sessions log in at hosts',
  }),
];

/** Makes the schedules, or brings those that exist to what the code says. */
export async function reconcileSchedules(client: Client): Promise<void> {
  for (const wanted of SCHEDULES) await reconcile(client, wanted);
}

/** Renews what sessions show to hosts now, and not only in some minutes: hosts ask for the authority's key. */
export async function renewTrustNow(client: Client): Promise<void> {
  await client.schedule.getHandle(TRUST_SCHEDULE).trigger();
}

async function reconcile(client: Client, wanted: (typeof SCHEDULES)[number]): Promise<void> {
  try {
    await client.schedule.create(wanted);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const { scheduleId, spec, policies, action } = wanted;
    await client.schedule.getHandle(scheduleId).update((previous) => ({ ...previous, spec, policies, action }));
  }
}

/** Keeps the schedules there: a Temporal server that lost its store gets them again within a minute. */
export function keepSchedules(client: Client, log: { warn(fields: object, message: string): void }): () => void {
  const check = async () => {
    for (const wanted of SCHEDULES) {
      try {
        await client.schedule.getHandle(wanted.scheduleId).describe();
      } catch {
        await reconcile(client, wanted).catch((error) => log.warn({ err: String(error) }, 'schedule not reconciled'));
      }
    }
  };
  const timer = setInterval(check, 30_000);
  timer.unref();
  return () => clearInterval(timer);
}
