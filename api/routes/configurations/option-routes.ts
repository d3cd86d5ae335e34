import type { z } from 'zod';
import { applyLoggingLevel } from '../../../control/configurations/logging-level.ts';
import { optionWarnings } from '../../../control/configurations/option-warnings.ts';
import { type OptionsChange, patchOptions } from '../../../control/configurations/patch-options.ts';
import {
  CfsOptionsSchema,
  type Options,
  OptionsPatchSchema,
  OptionsSchema,
  OWN_OPTIONS,
} from '../../../domain/configurations/schema.ts';
import { V2Options, V2OptionsPatch } from '../../../domain/configurations/v2-schema.ts';
import { readOptions } from '../../../store/configurations/options.ts';
import { acting } from '../../acting.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { warn } from '../../server/warnings.ts';
import type { ConfigurationApi } from './dependencies.ts';

export interface OptionWire {
  path: string;
  patch: z.ZodType<OptionsChange>;
  record: z.ZodType;
  show(options: Options): unknown;
}

export const OPTIONS_V3: OptionWire = {
  path: '/v3/options',
  patch: OptionsPatchSchema.meta({
    examples: { limits: { default_batcher_retry_policy: 5, session_ttl: '30d' } },
  }),
  record: CfsOptionsSchema,
  show: (options) => Object.fromEntries(Object.entries(options).filter(([name]) => !OWN.has(name))),
};

const OWN: ReadonlySet<string> = new Set(OWN_OPTIONS);

/** All options, with those that CFS does not know. */
const MUSTER_OPTIONS: OptionWire = {
  path: '/options',
  patch: OptionsPatchSchema,
  record: OptionsSchema,
  show: (options) => options,
};

export const OPTIONS_V2: OptionWire = {
  path: '/v2/options',
  patch: V2OptionsPatch.input.meta({ examples: { limits: { defaultBatcherRetryPolicy: 5, sessionTTL: '30d' } } }),
  record: V2Options.object,
  show: V2Options.show,
};

const tags = ['options'];

/** The options with those of Muster's own. */
export async function musterOptionRoutes(app: ApiServer, deps: ConfigurationApi): Promise<void> {
  optionRoutes(app, deps, MUSTER_OPTIONS);
}

/** CFS's options in one version of the API (cfs-api 5). */
export function optionRoutes(app: ApiServer, deps: ConfigurationApi, wire: OptionWire): void {
  const response = { 200: wire.record };
  app.get(
    wire.path,
    { schema: { tags, summary: 'Read the options', response }, config: { access: 'reader', class: 'quick' } },
    async () => wire.show(await readOptions(deps.db)),
  );

  const summary = 'Change options; what they name and is not there stands in the header Warning';
  app.patch(
    wire.path,
    {
      schema: { tags, summary, body: wire.patch, response },
      config: { access: 'operator', class: 'quick', refuses: ['source_unknown', 'read_only'] },
    },
    async (request, reply) => {
      const options = await patchOptions(deps, acting(request), request.body);
      applyLoggingLevel(deps.log, options);
      warn(reply, await optionWarnings(deps, request.body));
      return wire.show(options);
    },
  );
}
