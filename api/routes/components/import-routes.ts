import { z } from 'zod';
import { importComponents } from '../../../control/components/import-components.ts';
import { ImportAnswerSchema, ImportBodySchema, ImportQuerySchema } from '../../../domain/import-schema.ts';
import { acting } from '../../acting.ts';
import { bulkIfObject } from '../../server/admission/request-class.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { ComponentApi } from './dependencies.ts';

const ComponentsQuerySchema = ImportQuerySchema.extend({
  enable: z.boolean().optional().describe('false: components are disabled, so that nothing starts by itself'),
});

/** Components of another CFS, taken over as they are (what `muster import` sends). */
export async function componentImportRoutes(app: ApiServer, deps: ComponentApi): Promise<void> {
  app.post(
    '/import/components',
    {
      schema: {
        tags: ['import'],
        summary: 'Import components with their state and its times',
        querystring: ComponentsQuerySchema,
        body: ImportBodySchema.meta({
          examples: { two: { records: [{ id: 'x1', desired_config: 'site', state: [] }, { id: 'x2' }] } },
        }),
        response: { 200: ImportAnswerSchema },
      },
      config: { access: 'admin', class: bulkIfObject },
    },
    async (request) => {
      const { dry_run: dryRun = false, keep = false, enable = true } = request.query;
      const results = await importComponents(deps, acting(request), request.body.records, { dryRun, keep, enable });
      return { results };
    },
  );
}
