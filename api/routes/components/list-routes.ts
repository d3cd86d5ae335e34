import { Readable } from 'node:stream';
import { z } from 'zod';
import {
  allComponentItems,
  describeComponent,
  listComponentItems,
} from '../../../control/components/list-components.ts';
import { CSV_HEAD, csvLine } from '../../../domain/components/component-csv.ts';
import {
  ComponentDetailSchema,
  type ComponentItem,
  ComponentItemsQuerySchema,
  ComponentItemsSchema,
} from '../../../domain/components/list-schema.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { pageAnswer } from '../../server/list-answer.ts';
import type { ComponentApi } from './dependencies.ts';

const tags = ['components'];
const CSV = 'text/csv';
const JSON_OR_CSV = ['application/json', CSV] as const;

/** Muster's own lists of components: each with the reason of its status. */
export async function componentListRoutes(app: ApiServer, { db }: Pick<ComponentApi, 'db'>): Promise<void> {
  app.get(
    '/components',
    {
      schema: {
        tags,
        summary: 'List components with the reasons of their statuses',
        querystring: ComponentItemsQuerySchema,
        produces: JSON_OR_CSV,
        response: { 200: ComponentItemsSchema },
      },
      config: { access: 'reader', class: 'list', refuses: ['bad_hostlist', 'hostlist_too_large', 'bad_tags'] },
    },
    async ({ query }, reply) => {
      if (query.format === 'csv') {
        const text = csvText(await allComponentItems(db, query));
        return reply
          .type(`${CSV}; charset=utf-8`)
          .header('x-content-type-options', 'nosniff')
          .header('content-disposition', 'attachment; filename="components.csv"')
          .send(Readable.from(text, { objectMode: false }) as never);
      }
      const { components, isMore, counted, unknown } = await listComponentItems(db, query);
      const { format: _, ...shown } = query;
      const page = pageAnswer('components', components, isMore, ({ id }) => ({ ...shown, after_id: id }));
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

async function* csvText(pieces: AsyncGenerator<ComponentItem[]>): AsyncGenerator<string> {
  yield CSV_HEAD;
  for await (const items of pieces) yield items.map(csvLine).join('');
}
