import { applyLoggingLevel } from '../../../control/configurations/logging-level.ts';
import { patchOptions } from '../../../control/configurations/patch-options.ts';
import { OptionsPatchSchema, OptionsSchema } from '../../../domain/configurations/schema.ts';
import { readOptions } from '../../../store/options.ts';
import type { ApiDependencies, ApiServer } from '../../dependencies.ts';

const tags = ['options'];

/** CFS's options, version 3 (cfs-api 5). */
export async function optionRoutes(app: ApiServer, deps: ApiDependencies): Promise<void> {
  app.get('/v3/options', { schema: { tags, summary: 'Read the options', response: { 200: OptionsSchema } } }, () =>
    readOptions(deps.db),
  );

  app.patch(
    '/v3/options',
    { schema: { tags, summary: 'Change options', body: OptionsPatchSchema, response: { 200: OptionsSchema } } },
    async ({ body }) => {
      const options = await patchOptions(deps, body);
      applyLoggingLevel(deps.log, options);
      return options;
    },
  );
}
