import { createWebhookActivities, sweepWebhooks } from '../../activities/webhooks/activities.ts';
import { openAddressSeal } from '../../control/webhooks/address-seal.ts';
import { followNotifications } from '../../control/webhooks/follow-notifications.ts';
import { wakeWebhooks } from '../../control/webhooks/wake-webhooks.ts';
import { createWebhookSender } from '../../drivers/webhooks/send-webhook.ts';
import { keepRunning } from '../keep-running.ts';
import type { WorkerLane } from '../shared/open-shared.ts';

/** Notifications, and the addresses that they go to. */
export const webhooks: WorkerLane = (shared) => {
  const { db, log, site } = shared;
  const deps = {
    ...shared,
    secrets: site.secrets,
    addressSeal: openAddressSeal(db, site.secrets, site.cipher),
    webhooks: createWebhookSender({ ca: site.platformCa }),
  };
  return {
    main: createWebhookActivities(deps),
    sweep: () => sweepWebhooks(deps),
    background: [() => keepRunning({ webhooks: () => wakeWebhooks(deps) }, log), () => followNotifications(deps)],
  };
};
