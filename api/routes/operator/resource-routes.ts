import { z } from 'zod';
import { getResource, pageOfReconciles, pageOfResources } from '../../../control/operator/read-operators.ts';
import {
  cancelReconcile,
  pauseResource,
  reconcileNow,
  resumeResource,
} from '../../../control/operator/request-of-resource.ts';
import { musterError } from '../../../domain/errors.ts';
import {
  PauseSchema,
  ReconcileQuerySchema,
  ReconcileRequestSchema,
  ResourceQuerySchema,
} from '../../../domain/operator/request-schema.ts';
import { OperatorReconcileSchema, OperatorResourceSchema } from '../../../domain/operator/view-schema.ts';
import { NextSchema, optionalBody } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { pageAnswer } from '../../server/list-answer.ts';
import type { ApiShared } from '../../shared/api-shared.ts';

const tags = ['operator'];
const params = z.object({ resource: z.string().describe('id of the resource') });
const of = { 202: OperatorResourceSchema };

/** Custom resources: what each does and waits for, its records, and what people ask of it. */
export async function resourceRoutes(app: ApiServer, deps: ApiShared): Promise<void> {
  app.get(
    '/operator/resources',
    {
      schema: {
        tags,
        summary: 'List the custom resources of operators',
        querystring: ResourceQuerySchema,
        response: { 200: z.object({ resources: z.array(OperatorResourceSchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list', refuses: ['operator_not_known'] },
    },
    async ({ query }) => {
      const { records, more } = await pageOfResources(deps, query);
      return pageAnswer('resources', records, more, ({ id }) => ({ ...query, after_id: id }));
    },
  );

  app.get(
    '/operator/resources/:resource',
    {
      schema: { tags, summary: 'Show a custom resource', params, response: { 200: OperatorResourceSchema } },
      config: { access: 'reader', class: 'quick', refuses: ['operator_resource_not_found'] },
    },
    (request) => getResource(deps, request.params.resource),
  );

  app.get(
    '/operator/resources/:resource/reconciles',
    {
      schema: {
        tags,
        summary: 'List the reconciles of a custom resource, newest first',
        params,
        querystring: ReconcileQuerySchema,
        response: { 200: z.object({ reconciles: z.array(OperatorReconcileSchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list', refuses: ['operator_resource_not_found'] },
    },
    async (request) => {
      const { query } = request;
      const { records, more } = await pageOfReconciles(deps, request.params.resource, query);
      return pageAnswer('reconciles', records, more, ({ id }) => ({ limit: query.limit, after_id: id }));
    },
  );

  app.post(
    '/operator/resources/:resource/reconcile',
    {
      schema: {
        tags,
        summary: 'Reconcile a custom resource now; one that runs does so again at its end',
        params,
        optionalBody: ReconcileRequestSchema.meta({ examples: { one: {} } }),
        response: of,
      },
      config: {
        access: 'operator',
        class: 'quick',
        refuses: ['operator_resource_not_found', 'operator_paused', 'not_supported'],
      },
    },
    async (request, reply) => {
      const { check } = optionalBody(request, ReconcileRequestSchema);
      if (check === true) throw musterError('not_supported', 'This release has no reconcile that only checks', 'check');
      const { actor } = request;
      return reply.code(202).send(await reconcileNow({ ...deps, actor }, request.params.resource));
    },
  );

  app.post(
    '/operator/resources/:resource/cancel',
    {
      schema: { tags, summary: 'Cancel the reconcile that runs, or the one that waits', params, response: of },
      config: {
        access: 'operator',
        class: 'quick',
        refuses: ['operator_resource_not_found', 'operator_reconcile_not_found'],
      },
    },
    async (request, reply) =>
      reply.code(202).send(await cancelReconcile({ ...deps, actor: request.actor }, request.params.resource)),
  );

  app.post(
    '/operator/resources/:resource/pause',
    {
      schema: {
        tags,
        summary: 'Begin no further run of a custom resource; one that goes on ends',
        params,
        optionalBody: PauseSchema.meta({ examples: { one: {} } }),
        response: of,
      },
      config: { access: 'operator', class: 'quick', refuses: ['operator_resource_not_found', 'bad_request'] },
    },
    async (request, reply) => {
      const { until } = optionalBody(request, PauseSchema);
      const paused = await pauseResource(
        { ...deps, actor: request.actor },
        request.params.resource,
        until === undefined ? null : new Date(until),
      );
      return reply.code(202).send(paused);
    },
  );

  app.post(
    '/operator/resources/:resource/resume',
    {
      schema: { tags, summary: 'Let a paused custom resource run again', params, response: of },
      config: { access: 'operator', class: 'quick', refuses: ['operator_resource_not_found'] },
    },
    async (request, reply) =>
      reply.code(202).send(await resumeResource({ ...deps, actor: request.actor }, request.params.resource)),
  );
}
