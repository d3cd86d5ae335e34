import { z } from 'zod';
import { getWebhook, pageOfDeliveries, pageOfWebhooks } from '../../../control/webhooks/read-webhooks.ts';
import { createWebhook, patchWebhook, removeWebhook, testWebhook } from '../../../control/webhooks/write-webhook.ts';
import {
  DeliveryListQuerySchema,
  DeliverySchema,
  WebhookCreatedSchema,
  WebhookCreateSchema,
  WebhookListQuerySchema,
  WebhookPatchSchema,
  WebhookSchema,
} from '../../../domain/webhooks/webhook-schema.ts';
import { acting } from '../../acting.ts';
import { NextSchema, NoContentSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { pageAnswer } from '../../server/list-answer.ts';
import type { WebhookApi } from './dependencies.ts';

const params = z.object({ webhook: z.string().describe('name of the webhook') });
const tags = ['webhooks'];

/** Who is told when sessions end, components fail and rollouts stop. */
export async function webhookRoutes(app: ApiServer, deps: WebhookApi): Promise<void> {
  app.get(
    '/webhooks',
    {
      schema: {
        tags,
        summary: 'List webhooks by name',
        querystring: WebhookListQuerySchema,
        response: { 200: z.object({ webhooks: z.array(WebhookSchema), next: NextSchema }) },
      },
      config: { access: 'admin', class: 'list' },
    },
    async ({ query: { limit, after_id } }) => {
      const { webhooks, more } = await pageOfWebhooks(deps, after_id, limit);
      return pageAnswer('webhooks', webhooks, more, ({ name }) => ({ limit, after_id: name }));
    },
  );

  app.post(
    '/webhooks',
    {
      schema: {
        tags,
        summary: 'Make a webhook; the answer is the only place where its secret is shown',
        body: WebhookCreateSchema,
        response: { 201: WebhookCreatedSchema },
      },
      config: {
        access: 'admin',
        class: 'quick',
        refuses: ['webhook_exists', 'webhook_address_masked', 'secret_store_unavailable'],
      },
    },
    async (request, reply) => {
      const created = await createWebhook(deps, acting(request), request.body);
      return reply.code(201).header('cache-control', 'no-store').send(created);
    },
  );

  app.get(
    '/webhooks/:webhook',
    {
      schema: { tags, summary: 'Read a webhook', params, response: { 200: WebhookSchema } },
      config: { access: 'admin', class: 'quick', refuses: ['webhook_not_found'] },
    },
    ({ params }) => getWebhook(deps, params.webhook),
  );

  app.patch(
    '/webhooks/:webhook',
    {
      schema: {
        tags,
        summary: 'Change a webhook',
        params,
        body: WebhookPatchSchema,
        response: { 200: WebhookSchema },
      },
      config: {
        access: 'admin',
        class: 'quick',
        refuses: ['webhook_not_found', 'webhook_address_masked', 'secret_store_unavailable'],
      },
    },
    (request) => patchWebhook(deps, acting(request), request.params.webhook, request.body),
  );

  app.delete(
    '/webhooks/:webhook',
    {
      schema: {
        tags,
        summary: 'Remove a webhook with what it was still to be told',
        params,
        response: { 204: NoContentSchema },
      },
      config: { access: 'admin', class: 'quick', refuses: ['webhook_not_found', 'secret_store_unavailable'] },
    },
    async (request, reply) => {
      await removeWebhook(deps, request.params.webhook);
      return reply.code(204).send();
    },
  );

  app.post(
    '/webhooks/:webhook/test',
    {
      schema: {
        tags,
        summary: 'Send a ping on its way',
        params,
        response: { 202: DeliverySchema },
      },
      config: { access: 'admin', class: 'quick', refuses: ['webhook_not_found'] },
    },
    async (request, reply) => reply.code(202).send(await testWebhook(deps, acting(request), request.params.webhook)),
  );

  app.get(
    '/webhooks/:webhook/deliveries',
    {
      schema: {
        tags,
        summary: 'What a webhook was told and what became of it, newest first',
        params,
        querystring: DeliveryListQuerySchema,
        response: { 200: z.object({ deliveries: z.array(DeliverySchema), next: NextSchema }) },
      },
      config: { access: 'admin', class: 'list', refuses: ['webhook_not_found'] },
    },
    async ({ params, query: { limit, after_id, state } }) => {
      const { deliveries, more } = await pageOfDeliveries(deps, params.webhook, { state, afterId: after_id, limit });
      const filter = state === undefined ? {} : { state };
      return pageAnswer('deliveries', deliveries, more, ({ id }) => ({ limit, after_id: id, ...filter }));
    },
  );
}
