import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { z } from 'zod';
import { createGridReader } from '../../../control/fleet/read-grid.ts';
import { FleetGridSchema, ThroughputSchema } from '../../../domain/fleet/grid-schema.ts';
import { KEY_MAX } from '../../../domain/schema.ts';
import type { GridGrouping } from '../../../store/fleet/grid.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { ApiShared } from '../../shared/api-shared.ts';
import { keptByKey } from '../../shared/kept-by-key.ts';
import { sharedAnswer } from '../../shared/shared-answer.ts';
import type { SharedFleet } from './fleet-topics.ts';

/** So long all callers get the same grid, ms. */
const GRID_SHARED_MS = 1_000;
/** Groupings whose places are remembered. */
const GROUPINGS = 8;

const GridQuerySchema = z.object({
  group: z
    .string()
    .min(1)
    .max(KEY_MAX)
    .default('none')
    .describe('`none`, `configuration` (what components desire), or the key of a tag.'),
  fields: z.enum(['all', 'status']).default('all').describe('Whether ids and groups are wanted, or statuses alone.'),
});

const compress = promisify(gzip);

/** The fleet as a grid, and what was configured by the hour. */
export async function gridRoutes(app: ApiServer, deps: Pick<ApiShared, 'db'>, shared: SharedFleet): Promise<void> {
  const readerOf = keptByKey(
    (group) => sharedAnswer(createGridReader(deps.db, groupingOf(group)), GRID_SHARED_MS),
    GROUPINGS,
  );

  app.get(
    '/fleet/grid',
    {
      schema: {
        tags: ['fleet'],
        summary: 'All components, one cell each',
        description:
          'An answer for 100,000 components has some 1.7 MB; it is compressed (gzip) where the request accepts that.',
        querystring: GridQuerySchema,
        response: { 200: FleetGridSchema },
      },
      config: { access: 'reader', class: 'list' },
    },
    async ({ query, headers }, reply) => {
      const { version, total, status, ...whole } = await readerOf(query.group)();
      const answer = query.fields === 'status' ? { version, total, status } : { version, total, ...whole, status };
      reply.header('vary', 'accept-encoding');
      if (!/\bgzip\b/.test(String(headers['accept-encoding']))) return answer;
      const packed = await compress(JSON.stringify(answer), { level: 1 });
      return reply
        .type('application/json; charset=utf-8')
        .header('content-encoding', 'gzip')
        .send(Readable.from([packed], { objectMode: false }) as never);
    },
  );

  app.get(
    '/fleet/throughput',
    {
      schema: {
        tags: ['fleet'],
        summary: 'What was configured and what failed, by the hour',
        response: { 200: ThroughputSchema },
      },
      config: { access: 'reader', class: 'list' },
    },
    () => shared.throughput(),
  );
}

function groupingOf(group: string): GridGrouping {
  return group === 'none' || group === 'configuration' ? { by: group } : { by: 'tag', tag: group };
}
