import { z } from 'zod';
import { deleteConfiguration } from '../../../control/configurations/delete-configuration.ts';
import { putConfiguration } from '../../../control/configurations/put-configuration.ts';
import { getConfiguration, listConfigurations } from '../../../control/configurations/read-configuration.ts';
import { refreshConfiguration } from '../../../control/configurations/refresh-configuration.ts';
import {
  ConfigurationBodySchema,
  ConfigurationNameSchema,
  ConfigurationSchema,
  InUseListQuerySchema,
} from '../../../domain/configurations/schema.ts';
import type { ApiDependencies, ApiServer } from '../../dependencies.ts';
import { NextSchema, nextByName } from '../../next-page.ts';
import { NoContentSchema } from '../../no-content.ts';

const params = z.object({ configuration_id: ConfigurationNameSchema });
const tags = ['configurations'];

/** CFS's configurations, version 3 (cfs-api 11). */
export async function configurationRoutes(app: ApiServer, deps: ApiDependencies): Promise<void> {
  app.get(
    '/v3/configurations',
    {
      schema: {
        tags,
        summary: 'List configurations',
        querystring: InUseListQuerySchema,
        response: { 200: z.object({ configurations: z.array(ConfigurationSchema), next: NextSchema }) },
      },
    },
    async ({ query }) => {
      const page = await listConfigurations(deps.db, query);
      return { configurations: page.records, next: nextByName(query, page) };
    },
  );

  app.get(
    '/v3/configurations/:configuration_id',
    { schema: { tags, summary: 'Read a configuration', params, response: { 200: ConfigurationSchema } } },
    async ({ params }) => (await getConfiguration(deps.db, params.configuration_id)).record,
  );

  app.put(
    '/v3/configurations/:configuration_id',
    {
      schema: {
        tags,
        summary: 'Create or replace a configuration; branches become commits',
        params,
        querystring: z.object({ drop_branches: z.boolean().optional() }),
        body: ConfigurationBodySchema,
        response: { 200: ConfigurationSchema },
      },
    },
    ({ params, query, body }) =>
      putConfiguration(deps, params.configuration_id, body, { dropBranches: query.drop_branches ?? false }),
  );

  app.patch(
    '/v3/configurations/:configuration_id',
    {
      schema: {
        tags,
        summary: 'Set every branch to its head commit; a body is ignored',
        params,
        response: { 200: ConfigurationSchema },
      },
    },
    ({ params }) => refreshConfiguration(deps, params.configuration_id),
  );

  app.delete(
    '/v3/configurations/:configuration_id',
    {
      schema: {
        tags,
        summary: 'Delete a configuration that no component desires',
        params,
        response: { 204: NoContentSchema },
      },
    },
    async ({ params }, reply) => {
      await deleteConfiguration(deps.db, params.configuration_id);
      return reply.code(204).send();
    },
  );
}
