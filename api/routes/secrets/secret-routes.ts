import { z } from 'zod';
import { deleteSecret, putSecretValue, readSecretUses } from '../../../control/secrets/write-secret.ts';
import { SecretKeySchema, SecretNameSchema, SecretValueSchema } from '../../../domain/secrets/schema.ts';
import { SECRET_USE_KINDS } from '../../../domain/secrets/secret-uses.ts';
import { NoContentSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { SecretApi } from './dependencies.ts';

const tags = ['secrets'];
const ForceSchema = z.object({
  force: z.boolean().optional().describe('Delete the secret although something uses it'),
});
const SecretUseSchema = z.object({ kind: z.enum(SECRET_USE_KINDS), name: z.string() });

/** Secrets of the embedded stack: set, never read back. */
export async function secretRoutes(app: ApiServer, deps: SecretApi): Promise<void> {
  const { secrets, secretUsers: users } = deps;
  app.get(
    '/secrets',
    {
      schema: {
        tags,
        summary: 'List the names and keys of secrets',
        response: { 200: z.object({ secrets: z.array(z.object({ name: z.string(), keys: z.array(z.string()) })) }) },
      },
      config: { access: 'admin', class: 'list', refuses: ['secret_store_unavailable'] },
    },
    async () => ({ secrets: await secrets.list() }),
  );

  app.put(
    '/secrets/:name/:key',
    {
      schema: {
        tags,
        summary: 'Set one value of a secret',
        params: z.object({
          name: SecretNameSchema.describe('Name of the secret: a lower-case DNS name.'),
          key: SecretKeySchema.describe('Key of the value within the secret.'),
        }),
        body: SecretValueSchema.meta({ examples: { value: { value: 'example' } } }),
        response: { 204: NoContentSchema },
      },
      config: { access: 'admin', class: 'remote', refuses: ['secret_store_unavailable'] },
    },
    async ({ params, body, actor }, reply) => {
      await putSecretValue({ secrets, users, actor }, params.name, params.key, body.value);
      return reply.code(204).send();
    },
  );

  app.post(
    '/secrets/rotate-key',
    {
      schema: {
        tags,
        summary: 'Make a new key and encrypt all secrets with it',
        response: { 200: z.object({ values: z.int().describe('How many values the new key has encrypted') }) },
      },
      config: { access: 'admin', class: 'remote' },
    },
    async () => ({ values: await deps.changeSecretKey() }),
  );

  app.delete(
    '/secrets/:name',
    {
      schema: {
        tags,
        summary: 'Delete a secret',
        params: z.object({ name: SecretNameSchema.describe('Name of the secret: a lower-case DNS name.') }),
        querystring: ForceSchema,
        response: { 204: NoContentSchema },
      },
      config: {
        access: 'admin',
        class: 'remote',
        refuses: ['secret_not_found', 'secret_in_use', 'secret_store_unavailable'],
      },
    },
    async ({ params, query, actor }, reply) => {
      await deleteSecret({ secrets, users, actor }, params.name, null, { force: query.force === true });
      return reply.code(204).send();
    },
  );

  app.delete(
    '/secrets/:name/:key',
    {
      schema: {
        tags,
        summary: 'Delete one value of a secret',
        // Both a secret and one value of it go: the same words without this.
        operationId: 'delete_secret_value',
        params: z.object({
          name: SecretNameSchema.describe('Name of the secret: a lower-case DNS name.'),
          key: SecretKeySchema.describe('Key of the value within the secret.'),
        }),
        querystring: ForceSchema,
        response: { 204: NoContentSchema },
      },
      config: {
        access: 'admin',
        class: 'remote',
        refuses: ['secret_not_found', 'secret_in_use', 'secret_store_unavailable'],
      },
    },
    async ({ params, query, actor }, reply) => {
      await deleteSecret({ secrets, users, actor }, params.name, params.key, { force: query.force === true });
      return reply.code(204).send();
    },
  );

  app.get(
    '/secrets/:name/usage',
    {
      schema: {
        tags,
        summary: 'Read what uses a secret',
        params: z.object({ name: SecretNameSchema.describe('Name of the secret: a lower-case DNS name.') }),
        response: { 200: z.object({ uses: z.array(SecretUseSchema) }) },
      },
      config: {
        access: 'admin',
        class: 'list',
        refuses: ['secret_not_found', 'secret_store_unavailable', 'secret_unreadable'],
      },
    },
    async ({ params, actor }) => ({ uses: await readSecretUses({ secrets, users, actor }, params.name) }),
  );
}
