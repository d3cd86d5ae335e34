import { readWebhooksRevision } from '../../../store/webhooks/revisions.ts';
import { topicOfList } from '../../server/streaming/topic-watches.ts';
import type { ApiLane } from '../../shared/api-shared.ts';
import { webhookApi } from './dependencies.ts';
import { webhookRoutes } from './webhook-routes.ts';

export const webhooks: ApiLane = (shared) => {
  const deps = webhookApi(shared);
  return {
    muster: { webhooks: (app) => webhookRoutes(app, deps) },
    topics: { webhooks: topicOfList(shared.streams, () => readWebhooksRevision(shared.db), { least: 'admin' }) },
  };
};
