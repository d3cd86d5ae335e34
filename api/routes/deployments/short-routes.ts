import { z } from 'zod';
import { getCluster, pageOfClusters } from '../../../control/deployments/read-clusters.ts';
import { ClusterListQuerySchema, ClusterViewSchema } from '../../../domain/deployments/schema.ts';
import { NextSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { pageAnswer } from '../../server/list-answer.ts';
import type { DeploymentApi } from './dependencies.ts';

const tags = ['clusters'];

/** Clusters as Muster's own interface shows them. */
export async function shortRoutes(app: ApiServer, deps: DeploymentApi): Promise<void> {
  app.get(
    '/clusters',
    {
      schema: {
        tags,
        summary: 'List the clusters of all providers, with their connectivity',
        querystring: ClusterListQuerySchema,
        response: { 200: z.object({ clusters: z.array(ClusterViewSchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list', refuses: ['bad_request'] },
    },
    async ({ query: { limit, after_id } }) => {
      const { clusters, more } = await pageOfClusters(deps, after_id, limit);
      return pageAnswer('clusters', clusters, more, ({ provider, name }) => ({
        limit,
        after_id: `${provider}+${name}`,
      }));
    },
  );

  app.get(
    '/clusters/:cluster',
    {
      schema: {
        tags,
        summary: 'Read a cluster',
        params: z.object({ cluster: z.string().describe('`<provider>+<cluster>`') }),
        response: { 200: ClusterViewSchema },
      },
      config: { access: 'reader', class: 'quick', refuses: ['not_found'] },
    },
    ({ params }) => getCluster(deps, params.cluster),
  );
}
