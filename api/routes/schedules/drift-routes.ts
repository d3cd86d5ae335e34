import { z } from 'zod';
import { getDrift, listDrift } from '../../../control/components/read-drift.ts';
import { requestDriftCheck } from '../../../control/schedules/request-drift-check.ts';
import {
  DriftDetailSchema,
  DriftItemSchema,
  type DriftListQuery,
  DriftListQuerySchema,
} from '../../../domain/components/drift-schema.ts';
import { DriftCheckAnswerSchema, DriftCheckSchema } from '../../../domain/schedules/drift-check-schema.ts';
import { acting } from '../../acting.ts';
import { NextSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { sendList } from '../../server/list-answer.ts';
import type { ScheduleApi } from './dependencies.ts';

const tags = ['drift'];
const params = z.object({ component_id: z.string().describe('Id of the component.') });

/** What the last check found of every component, and new checks. */
export async function driftRoutes(app: ApiServer, deps: ScheduleApi): Promise<void> {
  app.get(
    '/drift',
    {
      schema: {
        tags,
        summary: 'List what is known of drift, by component',
        querystring: DriftListQuerySchema,
        response: { 200: z.object({ drift: z.array(DriftItemSchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list' },
    },
    async ({ query }, reply) => {
      const { limit, batches, more } = await listDrift(deps.db, query);
      return sendList(reply, 'drift', batches, (last, isCut) =>
        isCut || more() ? nextPage(query, limit, last?.id ?? '') : null,
      );
    },
  );

  app.get(
    '/drift/:component_id',
    {
      schema: {
        tags,
        summary: 'What is known of drift of a component, with the tasks that would change it',
        operationId: 'get_component_drift',
        params,
        response: { 200: DriftDetailSchema },
      },
      config: { access: 'reader', class: 'quick', refuses: ['drift_not_found'] },
    },
    ({ params }) => getDrift(deps.db, params.component_id),
  );

  app.post(
    '/drift/checks',
    {
      schema: {
        tags,
        summary: 'Check components for drift: makes sessions that only look',
        description:
          'The body names components by filter ({} is all of them) or by the configuration that they desire.',
        body: DriftCheckSchema,
        response: { 201: DriftCheckAnswerSchema },
      },
      config: { access: 'operator', class: 'quick', refuses: ['configuration_not_found', 'bad_tags'] },
    },
    async (request, reply) => reply.code(201).send(await requestDriftCheck(deps, acting(request), request.body)),
  );
}

/** Every parameter of the list with the value used. */
function nextPage(query: DriftListQuery, limit: number, last: string): Record<string, unknown> {
  return {
    status: query.status ?? '',
    config_name: query.config_name ?? '',
    ids: query.ids ?? '',
    limit,
    after_id: last,
  };
}
