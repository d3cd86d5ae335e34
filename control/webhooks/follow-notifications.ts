import { NOTIFICATION_CHANNEL } from '../../store/webhooks/webhooks.ts';
import { type FollowChannelOptions, followChannel } from '../changes/follow-channel.ts';
import { type WakeDependencies, wakeWebhooks } from './wake-webhooks.ts';

export interface FollowNotificationsOptions extends WakeDependencies, Pick<FollowChannelOptions, 'database' | 'log'> {}

/** Delivers when the database announces a notification; answers how to stop. What is lost is found within a minute. */
export function followNotifications({ database, log, ...deps }: FollowNotificationsOptions): () => Promise<void> {
  return followChannel({
    database,
    log,
    name: 'muster-webhooks',
    channel: NOTIFICATION_CHANNEL,
    act: () => wakeWebhooks(deps),
  });
}
