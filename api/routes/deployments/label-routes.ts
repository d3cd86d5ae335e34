import { z } from 'zod';
import { addLabel, getLabel, labelsOf, removeLabel } from '../../../control/deployments/label-cluster.ts';
import { ClusterLabelSchema } from '../../../domain/deployments/schema.ts';
import { acting } from '../../acting.ts';
import { NoContentSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { refOf } from './cluster-routes.ts';
import type { DeploymentApi } from './dependencies.ts';
import { NOT_JSON } from './not-json.ts';

const ofCluster = z.object({
  provider: z.string().describe('name of the provider'),
  cluster: z.string().describe('name of the cluster'),
});
const params = ofCluster.extend({ label: z.string().describe('the label') });
const tags = ['clusters'];
const base = '/v2/cluster-providers/:provider/clusters/:cluster/labels';
const shown = (label: string) => ({ 'label-name': label });

/** Labels of clusters. */
export async function labelRoutes(app: ApiServer, deps: DeploymentApi): Promise<void> {
  app.get(
    base,
    {
      schema: {
        tags,
        summary: 'List the labels of a cluster',
        params: ofCluster,
        response: { 200: z.array(ClusterLabelSchema) },
      },
      config: { access: 'reader', class: 'list', refuses: ['not_found'] },
    },
    async ({ params }) => (await labelsOf(deps, refOf(params))).map(shown),
  );

  app.post(
    base,
    {
      schema: {
        tags,
        summary: 'Label a cluster',
        params: ofCluster,
        body: ClusterLabelSchema,
        response: { 201: ClusterLabelSchema },
      },
      config: {
        access: 'admin',
        class: 'quick',
        refuses: ['not_found', 'already_exists', NOT_JSON],
        absentBodyFirst: true,
      },
    },
    async (request, reply) => {
      const label = request.body['label-name'];
      await addLabel(deps, acting(request), refOf(request.params), label);
      return reply.code(201).send(shown(label));
    },
  );

  app.get(
    `${base}/:label`,
    {
      schema: { tags, summary: 'Read a label of a cluster', params, response: { 200: ClusterLabelSchema } },
      config: { access: 'reader', class: 'quick', refuses: ['not_found'] },
    },
    async ({ params }) => shown(await getLabel(deps, refOf(params), params.label)),
  );

  app.delete(
    `${base}/:label`,
    {
      schema: { tags, summary: 'Remove a label of a cluster', params, response: { 204: NoContentSchema } },
      config: { access: 'admin', class: 'quick', refuses: ['not_found', 'in_use'] },
    },
    async (request, reply) => {
      await removeLabel(deps, refOf(request.params), request.params.label);
      return reply.code(204).send();
    },
  );
}
