import { z } from 'zod';
import { describeComponent, listComponentItems } from '../../../control/components/list-components.ts';
import {
  ComponentDetailSchema,
  ComponentItemsQuerySchema,
  ComponentItemsSchema,
} from '../../../domain/components/list-schema.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { pageAnswer } from '../../server/list-answer.ts';
import type { ComponentApi } from './dependencies.ts';

const tags = ['components'];

/** Muster's own lists of components: each with the reason of its status. */
export async function componentListRoutes(app: ApiServer, { db }: Pick<ComponentApi, 'db'>): Promise<void> {
  app.get(
    '/components',
    {
      schema: {
        tags,
        summary: 'List components with the reasons of their statuses',
        querystring: ComponentItemsQuerySchema,
        response: { 200: ComponentItemsSchema },
      },
      config: { access: 'reader', class: 'list', refuses: ['bad_hostlist', 'hostlist_too_large', 'bad_tags'] },
    },
    async ({ query }) => {
      const { components, isMore, counted, unknown } = await listComponentItems(db, query);
      const page = pageAnswer('components', components, isMore, ({ id }) => ({ ...query, after_id: id }));
      return { ...page, ...counted, ...(unknown === undefined ? {} : { unknown }) };
    },
  );

  app.get(
    '/components/:component_id',
    {
      schema: {
        tags,
        summary: 'Everything about a component',
        params: z.object({ component_id: z.string().describe('Id of the component.') }),
        response: { 200: ComponentDetailSchema },
      },
      config: { access: 'reader', class: 'quick', refuses: ['component_not_found'] },
    },
    ({ params }) => describeComponent(db, params.component_id),
  );
}
