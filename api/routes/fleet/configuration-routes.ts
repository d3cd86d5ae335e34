import { z } from 'zod';
import { configurationHistory } from '../../../control/fleet/configuration-history.ts';
import { configurationUsage } from '../../../control/fleet/configuration-usage.ts';
import { diffVersions } from '../../../control/fleet/diff-versions.ts';
import {
  ConfigurationDiffQuerySchema,
  ConfigurationDiffSchema,
  ConfigurationHistoryQuerySchema,
  ConfigurationHistorySchema,
  ConfigurationUsageSchema,
} from '../../../domain/configurations/history-schema.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { ApiShared } from '../../shared/api-shared.ts';
import { keptByKey } from '../../shared/kept-by-key.ts';
import { nextAnswer } from '../../shared/shared-answer.ts';

const tags = ['configurations'];
const params = z.object({ configuration: z.string().describe('Name of the configuration.') });

/** From one count of what uses a configuration to the next at least, ms: each counts all components that desire it, and each page asks at each change. */
const USAGE_GAP_MS = 1_000;
/** Configurations whose counts are shared. */
const USAGES = 100;

/** What became of one configuration, and what uses it. */
export async function configurationRoutes(app: ApiServer, { db }: Pick<ApiShared, 'db'>): Promise<void> {
  const usageOf = keptByKey((name) => nextAnswer(() => configurationUsage(db, name), USAGE_GAP_MS), USAGES);

  app.get(
    '/configurations/:configuration/history',
    {
      schema: {
        tags,
        summary: 'The versions of a configuration, newest first',
        description: 'As far as the audit reaches back. A configuration that was deleted has its history, too.',
        params,
        querystring: ConfigurationHistoryQuerySchema,
        response: { 200: ConfigurationHistorySchema },
      },
      config: { access: 'reader', class: 'list', refuses: ['configuration_not_found'] },
    },
    ({ params: { configuration }, query }) => configurationHistory(db, configuration, query),
  );

  app.get(
    '/configurations/:configuration/diff',
    {
      schema: {
        tags,
        summary: 'What two versions of a configuration differ in',
        params,
        querystring: ConfigurationDiffQuerySchema,
        response: { 200: ConfigurationDiffSchema },
      },
      config: {
        access: 'reader',
        class: 'list',
        refuses: ['configuration_not_found', 'configuration_version_not_found'],
      },
    },
    ({ params: { configuration }, query }) => diffVersions(db, configuration, query),
  );

  app.get(
    '/configurations/:configuration/usage',
    {
      schema: {
        tags,
        summary: 'What uses a configuration: components by status, schedules, sessions that have not ended',
        params,
        response: { 200: ConfigurationUsageSchema },
      },
      config: { access: 'reader', class: 'list' },
    },
    ({ params: { configuration } }) => usageOf(configuration)(),
  );
}
