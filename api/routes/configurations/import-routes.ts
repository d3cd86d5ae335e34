import { z } from 'zod';
import { importConfigurations } from '../../../control/configurations/import-configurations.ts';
import { importOptions } from '../../../control/configurations/import-options.ts';
import { importSources } from '../../../control/configurations/import-sources.ts';
import { ImportAnswerSchema, ImportBodySchema, ImportQuerySchema } from '../../../domain/import-schema.ts';
import { acting } from '../../acting.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { ConfigurationApi } from './dependencies.ts';

const tags = ['import'];
const response = { 200: ImportAnswerSchema };

const ConfigurationsBodySchema = ImportBodySchema.extend({
  sources: z.array(z.string()).optional().describe('for a dry run: sources that the same import would make'),
});

/** How an import treats what it finds, from its query. */
const importMode = ({ dry_run = false, keep = false }: z.infer<typeof ImportQuerySchema>) => ({
  dryRun: dry_run,
  keep,
});

/** Records of another CFS, taken over as they are (what `muster import` sends). */
export async function configurationImportRoutes(app: ApiServer, deps: ConfigurationApi): Promise<void> {
  app.post(
    '/import/sources',
    {
      schema: { tags, summary: 'Import sources', querystring: ImportQuerySchema, body: ImportBodySchema, response },
      config: { access: 'admin', class: 'remote' },
    },
    async (request) => ({
      results: await importSources(deps, acting(request), request.body.records, importMode(request.query)),
    }),
  );

  app.post(
    '/import/configurations',
    {
      schema: {
        tags,
        summary: 'Import configurations with their commits',
        querystring: ImportQuerySchema,
        body: ConfigurationsBodySchema.meta({ examples: { one: { records: [{ name: 'site', layers: [] }] } } }),
        response,
      },
      config: { access: 'admin', class: 'remote' },
    },
    async (request) => {
      const { records, sources = [] } = request.body;
      const mode = { ...importMode(request.query), comingSources: sources };
      return { results: await importConfigurations(deps, acting(request), records, mode) };
    },
  );

  app.post(
    '/import/options',
    {
      schema: {
        tags,
        summary: 'Import options, each a record of name and value',
        querystring: ImportQuerySchema,
        body: ImportBodySchema.meta({ examples: { one: { records: [{ name: 'batch_size', value: 50 }] } } }),
        response,
      },
      config: { access: 'admin', class: 'quick' },
    },
    async (request) => ({
      results: await importOptions(deps, acting(request), request.body.records, importMode(request.query)),
    }),
  );
}
