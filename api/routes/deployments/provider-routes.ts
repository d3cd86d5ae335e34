import { z } from 'zod';
import { allProviders, getProvider, putProvider, removeProvider } from '../../../control/deployments/providers.ts';
import { PlainRecordSchema } from '../../../domain/deployments/schema.ts';
import { acting } from '../../acting.ts';
import { NoContentSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { DeploymentApi } from './dependencies.ts';
import { NOT_JSON } from './not-json.ts';

const params = z.object({ provider: z.string().describe('name of the provider') });
const tags = ['clusters'];
const base = '/v2/cluster-providers';

/** Providers of clusters. */
export async function providerRoutes(app: ApiServer, deps: DeploymentApi): Promise<void> {
  app.get(
    base,
    {
      schema: { tags, summary: 'List cluster providers by name', response: { 200: z.array(PlainRecordSchema) } },
      config: { access: 'reader', class: 'list' },
    },
    () => allProviders(deps),
  );

  app.post(
    base,
    {
      schema: {
        tags,
        summary: 'Make a cluster provider',
        body: PlainRecordSchema,
        response: { 201: PlainRecordSchema },
      },
      config: { access: 'admin', class: 'quick', refuses: ['already_exists', NOT_JSON], absentBodyFirst: true },
    },
    async (request, reply) => reply.code(201).send(await putProvider(deps, acting(request), request.body)),
  );

  app.get(
    `${base}/:provider`,
    {
      schema: { tags, summary: 'Read a cluster provider', params, response: { 200: PlainRecordSchema } },
      config: { access: 'reader', class: 'quick', refuses: ['not_found'] },
    },
    ({ params }) => getProvider(deps, params.provider),
  );

  app.delete(
    `${base}/:provider`,
    {
      schema: { tags, summary: 'Remove a cluster provider', params, response: { 204: NoContentSchema } },
      config: { access: 'admin', class: 'quick', refuses: ['not_found', 'has_children'] },
    },
    async (request, reply) => {
      await removeProvider(deps, request.params.provider);
      return reply.code(204).send();
    },
  );
}
