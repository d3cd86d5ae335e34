import { z } from 'zod';
import { retryAfterSecret } from '../../../control/configurations/retry-after-secret.ts';
import { SecretKeySchema, SecretNameSchema, SecretValueSchema } from '../../../domain/configurations/schema.ts';
import type { ApiDependencies, ApiServer } from '../../dependencies.ts';
import { NoContentSchema } from '../../no-content.ts';

const tags = ['secrets'];

/** Secrets of the embedded stack: set, never read back. */
export async function secretRoutes(
  app: ApiServer,
  { db, secrets }: Pick<ApiDependencies, 'db' | 'secrets'>,
): Promise<void> {
  app.get(
    '/secrets',
    {
      schema: {
        tags,
        summary: 'List the names and keys of secrets',
        response: { 200: z.object({ secrets: z.array(z.object({ name: z.string(), keys: z.array(z.string()) })) }) },
      },
    },
    async () => ({ secrets: await secrets.list() }),
  );

  app.put(
    '/secrets/:name/:key',
    {
      schema: {
        tags,
        summary: 'Set one value of a secret',
        params: z.object({ name: SecretNameSchema, key: SecretKeySchema }),
        body: SecretValueSchema,
        response: { 204: NoContentSchema },
      },
    },
    async ({ params, body, actor }, reply) => {
      await secrets.put(params.name, params.key, body.value, actor);
      await retryAfterSecret(db);
      return reply.code(204).send();
    },
  );
}
