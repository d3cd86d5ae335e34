/** Brings runs of schedules to their ends. */
import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import { startTestWorker } from '../../stack/session-bench.ts';
import { type TestServer, workflowBundle } from '../workflow-environment.ts';
import type { Histories } from './recorded.ts';

/** The run of a schedule, each in its own way: done at once, with sessions, failed, cancelled while it waits. */
const SCHEDULE_RUNS: Record<string, { perform: () => Promise<string>; looks: number; cancel?: true }> = {
  'schedule-run-done': { perform: async () => 'over', looks: 0 },
  'schedule-run-followed': { perform: async () => 'following', looks: 2 },
  'schedule-run-failed': {
    perform: async () => {
      throw ApplicationFailure.nonRetryable('there is no configuration web', 'configuration_invalid');
    },
    looks: 0,
  },
  'schedule-run-cancelled': { perform: async () => 'following', looks: Number.POSITIVE_INFINITY, cancel: true },
};

async function scheduleRun(name: string, { environment }: TestServer): Promise<string> {
  const way = SCHEDULE_RUNS[name];
  const taskQueue = `test-${name}`;
  let looks = 0;
  const stop = await startTestWorker(environment, {
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: {
      beginScheduleRun: async () => ({ runId: 'run' }),
      performScheduleRun: way?.perform,
      followScheduleRun: async () => ++looks >= (way?.looks ?? 0),
      failScheduleRun: async () => undefined,
      cancelScheduleRun: async () => undefined,
    },
  });
  const start = { workflowId: name, taskQueue, args: [{ scheduleId: 'schedule' }] };
  const handle = await environment.client.workflow.start('scheduleRunWorkflow', start);
  if (way?.cancel) {
    while (looks < 1) await delay(50);
    await handle.cancel();
    await handle.result().catch(() => undefined);
  } else await handle.result();
  await stop();
  return handle.workflowId;
}

export const SCHEDULE_HISTORIES: Histories = Object.fromEntries(
  Object.keys(SCHEDULE_RUNS).map((name) => [name, (server) => scheduleRun(name, server)]),
);
