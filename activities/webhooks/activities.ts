import { type DeliveryDependencies, deliverNotifications } from '../../control/webhooks/deliver-notifications.ts';
import { forgetOldNotifications, type WakeDependencies, wakeWebhooks } from '../../control/webhooks/wake-webhooks.ts';
import { sealOpenAddresses } from '../../control/webhooks/webhook-address.ts';
import { WebhookRefSchema } from '../../domain/webhooks/activity-schema.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { parseInputs } from '../parse-inputs.ts';
import type { WebhookActivities } from './contract.ts';

export interface WebhookActivityDependencies extends DeliveryDependencies, WakeDependencies {
  log: { info(fields: object, message: string): void };
}

/** Tells Temporal again of webhooks that have something due, and seals addresses that an older release has stored. */
export async function sweepWebhooks(deps: WebhookActivityDependencies): Promise<void> {
  await wakeWebhooks(deps);
  const sealed = await sealOpenAddresses(deps);
  if (sealed > 0) deps.log.info({ sealed }, 'addresses of webhooks sealed that an older release had stored');
}

export function createWebhookActivities(deps: WebhookActivityDependencies): WebhookActivities {
  return parseInputs<WebhookActivities>(
    { deliverNotifications: WebhookRefSchema, wakeWebhooks: null },
    {
      deliverNotifications: ({ name }) =>
        withHeartbeat(async (signal) => {
          const next = await deliverNotifications(deps, name, signal);
          return { nextMs: next === null ? null : Math.max(0, next.getTime() - deps.clock().getTime()) };
        }),
      wakeWebhooks: () =>
        withHeartbeat(async () => {
          await wakeWebhooks(deps);
          await forgetOldNotifications(deps);
        }),
    },
  );
}
