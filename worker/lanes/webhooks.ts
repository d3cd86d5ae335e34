import { createWebhookActivities, sweepWebhooks } from '../../activities/webhooks/activities.ts';
import { openAddressSeal } from '../../control/webhooks/address-seal.ts';
import { followNotifications } from '../../control/webhooks/follow-notifications.ts';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import { createWebhookSender } from '../../drivers/webhooks/send-webhook.ts';
import { every } from '../schedules.ts';
import type { WorkerLane } from '../shared/open-shared.ts';

export const WEBHOOK_SCHEDULE = every('muster-webhooks', '10m', {
  workflowType: WORKFLOWS.wakeWebhooks,
  workflowId: 'wake-webhooks',
  timeout: '15m',
  summary: 'goes on with what webhooks are to be told',
});

/** Notifications, and the addresses that they go to. */
export const webhooks: WorkerLane = (shared) => {
  const { db, site } = shared;
  const deps = {
    ...shared,
    secrets: site.secrets,
    addressSeal: openAddressSeal(db, site.secrets, site.cipher),
    webhooks: createWebhookSender({ ca: site.platformCa }),
  };
  return {
    main: createWebhookActivities(deps),
    schedules: [WEBHOOK_SCHEDULE],
    sweep: () => sweepWebhooks(deps),
    background: [() => followNotifications(deps)],
  };
};
