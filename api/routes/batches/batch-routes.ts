import { z } from 'zod';
import { pauseBatcher, resumeBatcher, tickBatcher } from '../../../control/batches/pause-batcher.ts';
import { getBatch, listBatches, listBatchKeys, readBatcherDetail } from '../../../control/batches/read-batches.ts';
import {
  BatchDetailSchema,
  BatcherDetailSchema,
  BatchKeyListQuerySchema,
  BatchKeySchema,
  BatchListQuerySchema,
  BatchPauseSchema,
  BatchSchema,
} from '../../../domain/batches/batch-schema.ts';
import { acting } from '../../acting.ts';
import { NextSchema, optionalBody } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { pageAnswer } from '../../server/list-answer.ts';
import type { BatchApi } from './dependencies.ts';

const tags = ['batches'];

/** What the batcher holds, why it is not sent yet, and the batcher's commands. */
export async function batchRoutes(app: ApiServer, deps: BatchApi): Promise<void> {
  app.get(
    '/batches',
    {
      schema: {
        tags,
        summary: 'List the batches, why they are not sent yet, and how the batcher is',
        querystring: BatchListQuerySchema,
        response: { 200: z.object({ batcher: BatcherDetailSchema, batches: z.array(BatchSchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list' },
    },
    async ({ query }) => {
      const { batcher, batches, after } = await listBatches(deps, query);
      return { batcher, batches, next: after === null ? null : { ...query, after_id: after } };
    },
  );

  app.get(
    '/batches/keys',
    {
      schema: {
        tags,
        summary: 'List the keys of batches with their failures, by name',
        querystring: BatchKeyListQuerySchema,
        response: { 200: z.object({ keys: z.array(BatchKeySchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list' },
    },
    async ({ query }) => {
      const { keys, more } = await listBatchKeys(deps, query);
      return pageAnswer('keys', keys, more, ({ key }) => ({ limit: query.limit, after_id: key }));
    },
  );

  app.get(
    '/batches/:batch',
    {
      schema: {
        tags,
        summary: 'Read a batch with its components',
        params: z.object({ batch: z.string().describe('id of the batch') }),
        response: { 200: BatchDetailSchema },
      },
      config: { access: 'reader', class: 'quick', refuses: ['batch_not_found'] },
    },
    ({ params }) => getBatch(deps, params.batch),
  );

  const commands = [
    ['pause', 'Stop sending batches, all or those of one key; sessions go on', pauseBatcher],
    ['resume', 'Send batches again, all or those of one key', resumeBatcher],
  ] as const;
  for (const [word, summary, command] of commands) {
    app.post(
      `/batches/${word}`,
      {
        schema: {
          tags,
          summary,
          description: 'The body {"key"} is optional.',
          optionalBody: BatchPauseSchema,
          response: { 200: BatcherDetailSchema },
        },
        config: { access: 'operator', class: 'quick', refuses: ['batch_key_not_found'] },
      },
      async (request) => {
        await command(deps, acting(request), optionalBody(request, BatchPauseSchema));
        return readBatcherDetail(deps);
      },
    );
  }

  app.post(
    '/batches/tick',
    {
      schema: { tags, summary: 'Ask for a pass of the batcher now', response: { 202: BatcherDetailSchema } },
      config: { access: 'operator', class: 'quick' },
    },
    async (_request, reply) => {
      await tickBatcher(deps);
      return reply.code(202).send(await readBatcherDetail(deps));
    },
  );
}
