import { z } from 'zod';
import { drainOperator } from '../../../control/operator/drain-operator.ts';
import { readOperators, readOperatorWatches } from '../../../control/operator/read-operators.ts';
import { DrainSchema, WatchQuerySchema } from '../../../domain/operator/request-schema.ts';
import { OperatorSchema, OperatorWatchSchema } from '../../../domain/operator/view-schema.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { ApiShared } from '../../shared/api-shared.ts';

const tags = ['operator'];

/** Operators as a whole: their processes, what they watch, and their drain. */
export async function operatorRoutes(app: ApiServer, deps: ApiShared): Promise<void> {
  app.get(
    '/operator',
    {
      schema: {
        tags,
        summary: 'List the operators with their processes',
        response: { 200: z.object({ operators: z.array(OperatorSchema) }) },
      },
      config: { access: 'reader', class: 'list' },
    },
    async () => ({ operators: await readOperators(deps) }),
  );

  app.get(
    '/operator/watches',
    {
      schema: {
        tags,
        summary: 'List the kinds that operators watch, with the state of each',
        querystring: WatchQuerySchema,
        response: { 200: z.object({ watches: z.array(OperatorWatchSchema) }) },
      },
      config: { access: 'reader', class: 'list', refuses: ['operator_not_known'] },
    },
    async ({ query }) => ({ watches: await readOperatorWatches(deps, query.operator) }),
  );

  app.post(
    '/operator/drain',
    {
      schema: {
        tags,
        summary: 'Take the finalizers of an operator from all of its resources; each is paused behind it',
        body: DrainSchema.meta({ examples: { one: { run: true } } }),
        response: { 202: z.object({ operator: z.string(), resources: z.int() }) },
      },
      config: { access: 'operator', class: 'bulk', refuses: ['operator_not_known', 'bad_request'] },
    },
    async ({ body, actor }, reply) => reply.code(202).send(await drainOperator({ ...deps, actor }, body)),
  );
}
