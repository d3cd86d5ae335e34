import { addClusterRecord, clusterRecordsOf, getClusterValue } from '../../../control/deployments/cluster-records.ts';
import { KvPairsSchema } from '../../../domain/deployments/record-schema.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { DeploymentApi } from './dependencies.ts';
import { CLUSTER, clusterIn } from './record-paths.ts';
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
    value: {
      ...{ parameter: 'key', text: 'only the value of this key' },
      of: (path, key) => getClusterValue(deps, path, key),
    },
  });
}
