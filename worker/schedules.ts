import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError, type ScheduleOptions } from '@temporalio/client';
import { sealFor } from '../domain/engine/seal.ts';
import { MAIN_QUEUE } from '../domain/engine/task-queues.ts';
import { WORKFLOWS } from '../domain/engine/workflow-names.ts';
import { isMusterError } from '../domain/errors.ts';

/** A start that is this late is left out: the next one does the same. */
const CATCH_UP = '1m';

const TRUST_SCHEDULE = 'muster-trust';
const HARDWARE_SYNC_SCHEDULE = 'muster-hardware-sync';

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
      args: [sealFor('schedule', workflowId)],
      workflowExecutionTimeout: timeout,
      staticSummary: summary,
    },
  }) satisfies ScheduleOptions;

const SCHEDULES = [
  schedule('muster-sweep', '1m', {
    workflowType: WORKFLOWS.sweep,
    workflowId: 'sweep',
    timeout: '15m',
    summary: 'compares records and workflows, ends what nobody owns',
  }),
  // The worker itself looks each half minute (keep-running.ts). This is for a worker that does not.
  schedule('muster-batcher', '10m', {
    workflowType: WORKFLOWS.ensureBatcher,
    workflowId: 'ensure-batcher',
    timeout: '15m',
    summary: 'starts the batcher where it does not run',
  }),
  schedule('muster-webhooks', '10m', {
    workflowType: WORKFLOWS.wakeWebhooks,
    workflowId: 'wake-webhooks',
    timeout: '15m',
    summary: 'goes on with what webhooks are to be told',
  }),
  schedule('muster-images', '2m', {
    workflowType: WORKFLOWS.sweepImages,
    workflowId: 'sweep-images',
    timeout: '15m',
    summary: 'goes on with image jobs that a crash has left, removes what no record names',
  }),
  // CFS promises five minutes; so one that fails does not break the promise.
  schedule('muster-session-ttl', '2m', {
    workflowType: WORKFLOWS.expireSessions,
    workflowId: 'session-ttl',
    timeout: '40m',
    summary: 'deletes complete sessions older than option session_ttl',
  }),
  schedule(TRUST_SCHEDULE, '10m', {
    workflowType: WORKFLOWS.renewTrust,
    workflowId: 'trust',
    timeout: '15m',
    summary: 'renews the certificate with which sessions log in at hosts',
  }),
];

const HARDWARE_SYNC = schedule(HARDWARE_SYNC_SCHEDULE, '10m', {
  workflowType: WORKFLOWS.ensureHardwareSync,
  workflowId: 'ensure-hardware-sync',
  timeout: '15m',
  summary: 'starts the hardware sync where it does not run',
});

/** What there is only in some installations. */
export interface ScheduledParts {
  /** Whether a hardware manager is set. Default: no. */
  hardwareSync?: boolean;
}

/** The schedules of an installation. Each start of a schedule is a workflow more in Temporal's web UI, between those of sessions. */
export const wantedSchedules = ({ hardwareSync = false }: ScheduledParts) =>
  hardwareSync ? [...SCHEDULES, HARDWARE_SYNC] : SCHEDULES;

/** Makes the schedules, or brings those that exist to what the code says, and removes what is switched off. */
export async function reconcileSchedules(client: Client, parts: ScheduledParts = {}): Promise<void> {
  for (const wanted of wantedSchedules(parts)) await reconcile(client, wanted);
  if (!parts.hardwareSync) await remove(client, HARDWARE_SYNC_SCHEDULE);
}

async function remove(client: Client, scheduleId: string): Promise<void> {
  try {
    await client.schedule.getHandle(scheduleId).delete();
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
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
  parts: ScheduledParts = {},
): () => void {
  const check = async () => {
    for (const wanted of wantedSchedules(parts)) {
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
