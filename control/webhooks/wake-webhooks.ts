import type { Client } from '@temporalio/client';
import { MAIN_QUEUE } from '../../domain/engine/task-queues.ts';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import type { Db } from '../../store/connection/database.ts';
import { findDueWebhooks, forgetNotifications } from '../../store/webhooks/webhooks.ts';
import { notificationsDue } from '../../workflows/webhooks/messages.ts';

/** Notifications are kept for so long, ms. */
const KEPT_MS = 7 * 24 * 3_600_000;
/** Of the old ones so many go at once. */
const SLICE = 5_000;

export interface WakeDependencies {
  db: Db;
  client: Client;
  clock(): Date;
}

/** Starts or wakes the workflow of every webhook that has something to be told now. Answers their names. */
export async function wakeWebhooks(deps: WakeDependencies): Promise<string[]> {
  const names = await findDueWebhooks(deps.db, deps.clock());
  for (const name of names) {
    await deps.client.workflow.signalWithStart(WORKFLOWS.webhook, {
      workflowId: `webhook/${name}`,
      taskQueue: MAIN_QUEUE,
      args: [{ name }],
      signal: notificationsDue,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      staticSummary: `tells webhook ${name} what happened`,
    });
  }
  return names;
}

/** Removes what was told, or given up, a week ago. */
export async function forgetOldNotifications(deps: Pick<WakeDependencies, 'db' | 'clock'>): Promise<void> {
  const before = new Date(deps.clock().getTime() - KEPT_MS);
  while ((await forgetNotifications(deps.db, before, SLICE)) === SLICE);
}
