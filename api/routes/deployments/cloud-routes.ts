import { addCloud, callCloud, removeCloud, removeReference } from '../../../control/deployments/cloud-lifecycle.ts';
import { statusOf } from '../../../control/deployments/query-status.ts';
import {
  AcceptedCallSchema,
  CloudSchema,
  ClusterReferenceSchema,
  StatusAnswerSchema,
  StatusQuerySchema,
} from '../../../domain/deployments/record-schema.ts';
import { musterError } from '../../../domain/errors.ts';
import { acting } from '../../acting.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { DeploymentApi } from './dependencies.ts';
import { CLOUD, PROJECT, paramsOf, recordAt } from './record-paths.ts';
import { recordRoutes } from './record-routes.ts';

const tag = 'logical clouds';

/** Logical clouds of level 0: names for sets of clusters. */
export async function cloudRoutes(app: ApiServer, deps: DeploymentApi): Promise<void> {
  recordRoutes(app, deps, {
    ...{ kind: 'cloud', above: PROJECT, base: `${PROJECT}/logical-clouds`, item: '/:cloud', tag },
    ...{ access: 'operator', schema: CloudSchema, refuses: ['level_not_supported', 'invalid_state', 'in_use'] },
    add: (by, parent, given) => addCloud(deps, by, parent, given),
    remove: (_, path) => removeCloud(deps, path),
  });
  recordRoutes(app, deps, {
    ...{ kind: 'cluster-reference', above: CLOUD, base: `${CLOUD}/cluster-references`, item: '/:reference', tag },
    ...{ access: 'operator', schema: ClusterReferenceSchema, refuses: ['invalid_state'] },
    remove: (_, path, names) => removeReference(deps, path, recordAt(CLOUD, names)),
  });

  for (const call of ['instantiate', 'terminate', 'stop'] as const) {
    app.post(
      `${CLOUD}/${call}`,
      {
        schema: {
          tags: [tag],
          summary: `${call[0]?.toUpperCase()}${call.slice(1)} a logical cloud`,
          params: paramsOf(CLOUD),
          response: { 200: AcceptedCallSchema },
        },
        config: {
          access: 'operator',
          class: 'quick',
          refuses: [
            'not_found',
            'invalid_state',
            ...(call === 'instantiate' ? (['no_clusters'] as const) : []),
            ...(call === 'terminate' ? (['in_use'] as const) : []),
          ],
        },
      },
      (request) => callCloud(deps, acting(request), call, recordAt(CLOUD, request.params)),
    );
  }

  app.get(
    `${CLOUD}/status`,
    {
      schema: {
        tags: [tag],
        summary: 'The state of a logical cloud',
        params: paramsOf(CLOUD),
        querystring: StatusQuerySchema,
        response: { 200: StatusAnswerSchema },
      },
      config: { access: 'reader', class: 'quick', refuses: ['not_found', 'bad_request'] },
    },
    ({ params, query }) => statusOf(deps, 'cloud', recordAt(CLOUD, params), query),
  );

  // Parts of clouds of level 1: EMCO's clients know them, so they hear why there is nothing.
  for (const part of ['user-permissions', 'cluster-quotas', 'kv-pairs']) {
    for (const path of [`${CLOUD}/${part}`, `${CLOUD}/${part}/*`]) {
      app.route({
        method: ['GET', 'POST', 'PUT', 'DELETE'],
        url: path,
        schema: { hide: true, tags: [tag], summary: 'What only logical clouds of level 1 have, which are not built' },
        config: { access: 'operator', class: 'quick', refuses: ['level_not_supported'] },
        handler: async () => {
          throw musterError(
            'level_not_supported',
            `${part}: only logical clouds of level 1 have it, and they are not built`,
          );
        },
      });
    }
  }
}
