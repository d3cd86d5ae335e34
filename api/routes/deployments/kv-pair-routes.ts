import { z } from 'zod';
import { addClusterRecord, clusterRecordsOf, getClusterValue } from '../../../control/deployments/cluster-records.ts';
import { KvPairsSchema } from '../../../domain/deployments/record-schema.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { DeploymentApi } from './dependencies.ts';
import { CLUSTER, clusterIn, paramsOf, recordAt } from './record-paths.ts';
import { recordRoutes } from './record-routes.ts';

const tag = 'clusters';
const base = `${CLUSTER}/kv-pairs`;
const item = '/:kv_pairs';

/** Values of clusters by their keys: they are kept, and no manifest reads them yet. */
export async function kvPairRoutes(app: ApiServer, deps: DeploymentApi): Promise<void> {
  const kind = 'kv-pairs';
  recordRoutes(app, deps, {
    ...{ kind, above: CLUSTER, base, item, tag, access: 'admin', schema: KvPairsSchema },
    list: (names) => clusterRecordsOf(deps, kind, clusterIn(names)),
    add: (by, _parent, given, names) => addClusterRecord(deps, by, { kind, ref: clusterIn(names) }, given),
  });
  app.get(
    `${base}${item}/`,
    {
      schema: {
        ...{ tags: [tag], summary: 'Read the value of a key', params: paramsOf(`${base}${item}`), hide: true },
        querystring: z.object({ key: z.string().describe('the key') }),
        response: { 200: z.string() },
      },
      config: { access: 'reader', class: 'quick', refuses: ['not_found'] },
    },
    async ({ params, query }, reply) => {
      const value = await getClusterValue(deps, recordAt(`${base}${item}`, params), query.key);
      // A text is sent as it is, and this is JSON.
      return reply.type('application/json').send(JSON.stringify(value));
    },
  );
}
