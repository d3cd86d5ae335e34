import { z } from 'zod';
import { deleteComponent } from '../../../control/components/delete-component.ts';
import { patchComponent, patchComponents } from '../../../control/components/patch-components.ts';
import { patchComponentsByFilter } from '../../../control/components/patch-components-by-filter.ts';
import { putComponent, putComponents } from '../../../control/components/put-components.ts';
import { getComponent, listComponents } from '../../../control/components/read-components.ts';
import {
  ComponentBodySchema,
  ComponentFilterPatchSchema,
  type ComponentListQuery,
  ComponentListQuerySchema,
  ComponentSchema,
  ComponentViewSchema,
} from '../../../domain/components/schema.ts';
import { KEY_MAX, text } from '../../../domain/schema.ts';
import type { ApiDependencies, ApiServer } from '../../dependencies.ts';
import { sendList } from '../../list-answer.ts';
import { NextSchema } from '../../next-page.ts';
import { NoContentSchema } from '../../no-content.ts';

const ParamsSchema = z.object({ component_id: z.string() });
const NewIdParamsSchema = z.object({ component_id: text(1, KEY_MAX) });
const DetailsSchema = ComponentListQuerySchema.pick({ state_details: true, config_details: true });
const IdsSchema = z.object({ component_ids: z.array(z.string()) });
const tags = ['components'];

/** CFS's components, version 3 (cfs-api 6). */
export async function componentRoutes(app: ApiServer, deps: ApiDependencies): Promise<void> {
  bulkRoutes(app, deps);

  app.get(
    '/v3/components/:component_id',
    {
      schema: {
        tags,
        summary: 'Read a component',
        params: ParamsSchema,
        querystring: DetailsSchema,
        response: { 200: ComponentViewSchema },
      },
    },
    ({ params, query }) => getComponent(deps, params.component_id, query),
  );

  app.put(
    '/v3/components/:component_id',
    {
      schema: {
        tags,
        summary: 'Create or replace a component',
        params: NewIdParamsSchema,
        body: ComponentBodySchema,
        response: { 200: ComponentSchema },
      },
    },
    ({ params, body }) => putComponent(deps, params.component_id, body),
  );

  app.patch(
    '/v3/components/:component_id',
    {
      schema: {
        tags,
        summary: 'Change members of a component',
        params: ParamsSchema,
        body: ComponentBodySchema,
        response: { 200: ComponentSchema },
      },
    },
    ({ params, body }) => patchComponent(deps, params.component_id, body),
  );

  app.delete(
    '/v3/components/:component_id',
    { schema: { tags, summary: 'Delete a component', params: ParamsSchema, response: { 204: NoContentSchema } } },
    async ({ params }, reply) => {
      await deleteComponent(deps.db, params.component_id);
      return reply.code(204).send();
    },
  );
}

function bulkRoutes(app: ApiServer, deps: ApiDependencies): void {
  app.get(
    '/v3/components',
    {
      schema: {
        tags,
        summary: 'List components',
        querystring: ComponentListQuerySchema,
        response: { 200: z.object({ components: z.array(ComponentViewSchema), next: NextSchema }) },
      },
    },
    async ({ query }, reply) => {
      const { limit, batches, more } = await listComponents(deps, query);
      return sendList(reply, 'components', batches, (last) => (more() ? nextPage(query, limit, last?.id ?? '') : null));
    },
  );

  app.put(
    '/v3/components',
    {
      schema: {
        tags,
        summary: 'Create or replace components, all or none',
        body: z.array(ComponentBodySchema),
        response: { 200: IdsSchema },
      },
    },
    async ({ body }) => idsOf(await putComponents(deps, body)),
  );

  app.patch(
    '/v3/components',
    {
      schema: {
        tags,
        summary: 'Change listed components, or all that match filters',
        body: z.union([z.array(ComponentBodySchema), ComponentFilterPatchSchema]),
        response: { 200: IdsSchema },
      },
    },
    async ({ body }) => {
      if (Array.isArray(body)) return idsOf(await patchComponents(deps, body));
      return { component_ids: await patchComponentsByFilter(deps, body) };
    },
  );
}

function idsOf(components: readonly { id: string }[]): { component_ids: string[] } {
  return { component_ids: components.map((component) => component.id) };
}

/** Every parameter of the list with the value used (cfs-api 3). */
function nextPage(query: ComponentListQuery, limit: number, last: string): Record<string, unknown> {
  return {
    ids: query.ids ?? '',
    status: query.status ?? '',
    enabled: query.enabled ?? null,
    config_name: query.config_name ?? '',
    state_details: query.state_details ?? false,
    config_details: query.config_details ?? false,
    tags: query.tags ?? '',
    limit,
    after_id: last,
  };
}
