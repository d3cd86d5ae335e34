import { z } from 'zod';
import { callGroup } from '../../../control/deployments/group-lifecycle.ts';
import { getDeployment, pageOfDeployments, placeOf } from '../../../control/deployments/read-deployments.ts';
import { removeDeployment } from '../../../control/deployments/remove-deployment.ts';
import { applyDeployment } from '../../../control/deployments/short-form.ts';
import {
  DEPLOYMENT_NAME_TEXT,
  DeploymentListQuerySchema,
  DeploymentViewSchema,
  RemovedDeploymentSchema,
} from '../../../domain/deployments/deployment-schema.ts';
import { ShortDeploymentSchema } from '../../../domain/deployments/short-schema.ts';
import { acting } from '../../acting.ts';
import { NextSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { pageAnswer } from '../../server/list-answer.ts';
import type { DeploymentApi } from './dependencies.ts';
import { BUSY, INSTANTIATE } from './group-routes.ts';
import { NOT_BUILT, REFUSED, refuseAsked } from './not-built.ts';

const tags = ['deployments'];
const params = z.object({ deployment: z.string().describe(DEPLOYMENT_NAME_TEXT) });
const DEPLOYMENT = '/deployments/:deployment';

/** Deployments by their names, whether the short form made them or requests under `/v2`. */
export async function deploymentRoutes(app: ApiServer, deps: DeploymentApi): Promise<void> {
  app.get(
    '/deployments',
    {
      schema: {
        tags,
        summary: 'List the deployments of all projects, with the counts of their resources',
        querystring: DeploymentListQuerySchema,
        response: { 200: z.object({ deployments: z.array(DeploymentViewSchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list' },
    },
    async ({ query: { limit, after_id } }) => {
      const { deployments, more } = await pageOfDeployments(deps, after_id, limit);
      return pageAnswer('deployments', deployments, more, ({ name }) => ({ limit, after_id: name }));
    },
  );

  app.post(
    '/deployments',
    {
      schema: {
        tags,
        summary: 'Make a deployment of one document, and bring it to its clusters',
        description:
          'Makes project `default`, a composite app, a logical cloud and a deployment intent group, all of the name, in one transaction. The same document again changes nothing.',
        querystring: z.object({ dry_run: REFUSED }),
        body: ShortDeploymentSchema.meta({ examples: { 'two apps': EXAMPLE } }),
        response: { 202: DeploymentViewSchema.extend({ warnings: z.array(z.string()).optional() }) },
      },
      config: {
        access: 'operator',
        class: 'bulk',
        refuses: [
          ...([
            'already_exists',
            'render_failed',
            'not_found',
            'secret_store_unavailable',
            'secret_unreadable',
          ] as const),
          ...BUSY,
          ...INSTANTIATE,
          NOT_BUILT,
        ],
      },
    },
    async (request, reply) => {
      refuseAsked('apply', request.query);
      const { warnings } = await applyDeployment(deps, acting(request), request.body);
      const shown = await getDeployment(deps, request.body.name);
      return reply.code(202).send(warnings.length === 0 ? shown : { ...shown, warnings });
    },
  );

  app.get(
    DEPLOYMENT,
    {
      schema: { tags, summary: 'Read a deployment', params, response: { 200: DeploymentViewSchema } },
      config: { access: 'reader', class: 'quick', refuses: ['not_found', 'bad_request'] },
    },
    ({ params }) => getDeployment(deps, params.deployment),
  );

  app.delete(
    DEPLOYMENT,
    {
      schema: {
        tags,
        summary: 'Remove a deployment: it is terminated if need be, and goes with its records when that has ended',
        params,
        response: { 202: RemovedDeploymentSchema },
      },
      config: { access: 'operator', class: 'quick', refuses: ['not_found', 'bad_request', 'context_busy'] },
    },
    async (request, reply) => {
      const name = request.params.deployment;
      const isGone = await removeDeployment(deps, acting(request), placeOf(name));
      return reply.code(202).send({ name, is_gone: isGone });
    },
  );

  for (const call of ['approve', 'instantiate', 'terminate', 'stop'] as const) {
    app.post(
      `${DEPLOYMENT}/${call}`,
      {
        schema: {
          ...{ tags, summary: SUMMARIES[call], params },
          querystring: NOT_YET[call] ?? z.object({}),
          response: { 202: DeploymentViewSchema },
        },
        config: {
          access: 'operator',
          class: 'quick',
          refuses: [
            ...(['not_found', 'bad_request'] as const),
            ...BUSY,
            ...(call === 'instantiate' ? INSTANTIATE : []),
            ...(call in NOT_YET ? [NOT_BUILT] : []),
          ],
        },
      },
      async (request, reply) => {
        refuseAsked(call, request.query);
        await callGroup(deps, acting(request), call, placeOf(request.params.deployment));
        return reply.code(202).send(await getDeployment(deps, request.params.deployment));
      },
    );
  }
}

const EXAMPLE = {
  name: 'telemetry',
  namespace: 'obs',
  apps: [
    {
      name: 'agent',
      manifests: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: agent}\ndata: {color: blue}\n',
      placement: { all_of: [{ provider: 'lab', label: 'edge' }] },
    },
  ],
};

/** Parameters that are described and not built. */
const NOT_YET: { [Call in keyof typeof SUMMARIES]?: z.ZodObject } = {
  instantiate: z.object({ dry_run: REFUSED }),
  terminate: z.object({ keep: REFUSED }),
};

const SUMMARIES = {
  approve: 'Approve a deployment',
  instantiate: 'Bring a deployment to its clusters: apps and places are frozen now',
  terminate: 'Take a deployment off its clusters',
  stop: 'Give up what a deployment still has to do',
} as const;
