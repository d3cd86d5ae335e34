import type { z } from 'zod';
import { clusterRecordsOf } from '../../../control/deployments/cluster-records.ts';
import { addNetwork, callNetworks, putNetwork, removeNetwork } from '../../../control/deployments/network-intents.ts';
import { statusOfNetworks } from '../../../control/deployments/query-status.ts';
import type { GivenRecord } from '../../../control/deployments/records.ts';
import { NetworkSchema, ProviderNetworkSchema } from '../../../domain/deployments/network-schema.ts';
import {
  StatusAnswerSchema,
  StatusQuerySchema,
  StoredRecordSchema,
} from '../../../domain/deployments/record-schema.ts';
import { acting } from '../../acting.ts';
import { NoContentSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { DeploymentApi } from './dependencies.ts';
import { NOT_JSON } from './not-json.ts';
import { CLUSTER, clusterIn, type Names, paramsOf } from './record-paths.ts';
import { recordRoutes } from './record-routes.ts';

const tag = 'clusters';
const BUSY = ['invalid_state', 'context_busy'] as const;

/** Network intents of clusters and their life cycle. */
export async function networkRoutes(app: ApiServer, deps: DeploymentApi): Promise<void> {
  intentRoutes(app, deps, 'network', NetworkSchema);
  intentRoutes(app, deps, 'provider-network', ProviderNetworkSchema);

  for (const call of ['apply', 'terminate', 'stop'] as const) {
    app.post(
      `${CLUSTER}/${call}`,
      {
        schema: {
          tags: [tag],
          summary: SUMMARIES[call],
          params: paramsOf(CLUSTER),
          response: { 204: NoContentSchema },
        },
        config: { access: 'admin', class: 'quick', refuses: ['not_found', ...BUSY] },
      },
      async (request, reply) => {
        await callNetworks(deps, acting(request), call, clusterIn(request.params));
        return reply.code(204).send();
      },
    );
  }

  app.get(
    `${CLUSTER}/status`,
    {
      schema: {
        tags: [tag],
        summary: 'What is there of the network intents of a cluster',
        params: paramsOf(CLUSTER),
        querystring: StatusQuerySchema,
        response: { 200: StatusAnswerSchema },
      },
      config: { access: 'reader', class: 'quick', refuses: ['not_found', 'bad_request'] },
    },
    ({ params, query }) => statusOfNetworks(deps, clusterIn(params), query),
  );
}

const SUMMARIES = {
  apply: 'Bring the network intents of a cluster to it',
  terminate: 'Take the network intents of a cluster off it',
  stop: 'Give up what is still to do for the network intents of a cluster',
} as const;

function intentRoutes(
  app: ApiServer,
  deps: DeploymentApi,
  kind: 'network' | 'provider-network',
  schema: z.ZodType<GivenRecord>,
): void {
  const base = `${CLUSTER}/${kind}s`;
  const item = '/:network';
  recordRoutes(app, deps, {
    ...{ kind, above: CLUSTER, base, item, tag, access: 'admin', schema, refuses: BUSY },
    list: (names) => clusterRecordsOf(deps, kind, clusterIn(names)),
    add: (by, _parent, given, names) => addNetwork(deps, by, kind, clusterIn(names), given),
    remove: (_by, _path, names) => removeNetwork(deps, kind, clusterIn(names), names.network ?? ''),
  });
  app.put(
    `${base}${item}`,
    {
      schema: {
        ...{
          tags: [tag],
          summary: `Replace a ${kind.replace('-', ' ')}, or make it`,
          params: paramsOf(`${base}${item}`),
        },
        body: schema,
        response: { 200: StoredRecordSchema, 201: StoredRecordSchema },
      },
      config: {
        access: 'admin',
        class: 'quick',
        refuses: ['not_found', 'bad_request', 'already_exists', ...BUSY, NOT_JSON],
        absentBodyFirst: true,
      },
    },
    async (request, reply) => {
      const names = request.params as Names;
      const place = { kind, ref: clusterIn(names), name: names.network ?? '' };
      const { record, isNew } = await putNetwork(deps, acting(request), place, request.body as GivenRecord);
      return reply.code(isNew ? 201 : 200).send(record);
    },
  );
}
