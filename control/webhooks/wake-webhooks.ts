import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import type { Db } from '../../store/connection/database.ts';
import { findDueWebhooks, forgetNotifications } from '../../store/webhooks/webhooks.ts';
import { notificationsDue } from '../../workflows/webhooks/messages.ts';
import type { Tell, WantedWorkflow } from '../temporal/tell.ts';

/** Notifications are kept for so long, ms. */
const KEPT_MS = 7 * 24 * 3_600_000;
/** Of the old ones so many go at once. */
const SLICE = 5_000;

export interface WakeDependencies {
  db: Db;
  tell: Tell;
  clock(): Date;
}

/** The deliveries to a webhook that has something to be told. */
export function wantedDeliveries(name: string): WantedWorkflow {
  return {
    workflowType: WORKFLOWS.webhook,
    workflowId: `webhook/${name}`,
    args: [{ name }],
    signal: notificationsDue,
    staticSummary: `tells webhook ${name} what happened`,
  };
}

/** Starts or wakes the workflow of every webhook that has something to be told now. */
export async function wakeWebhooks({ db, tell, clock }: WakeDependencies): Promise<void> {
  await tell((await findDueWebhooks(db, clock())).map(wantedDeliveries));
}

/** Removes what was told, or given up, a week ago. */
export async function forgetOldNotifications(deps: Pick<WakeDependencies, 'db' | 'clock'>): Promise<void> {
  const before = new Date(deps.clock().getTime() - KEPT_MS);
  while ((await forgetNotifications(deps.db, before, SLICE)) === SLICE);
}
