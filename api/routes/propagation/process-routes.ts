import { z } from 'zod';
import { type PlanPreview, previewChanges, processChanges } from '../../../control/propagation/process-changes.ts';
import { getPlan } from '../../../control/propagation/read-plan.ts';
import { simulateChanges, simulatePlan } from '../../../control/propagation/simulate-plan.ts';
import type { ErrorCode } from '../../../domain/errors.ts';
import {
  PlanPreviewSchema,
  type PlanPreviewView,
  ProcessQuerySchema,
  ProcessSchema,
  SimulateChangesSchema,
  SimulatePlanSchema,
} from '../../../domain/propagation/plan-request-schema.ts';
import { PlanViewSchema } from '../../../domain/propagation/plan-view-schema.ts';
import { SimulateAnswerSchema } from '../../../domain/propagation/simulate-schema.ts';
import { acting } from '../../acting.ts';
import { optionalBody } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { PropagationApi } from './dependencies.ts';
import { refuseLaterMembers } from './later-routes.ts';

const PROCESSING: readonly ErrorCode[] = [
  ...(['nothing_staged', 'item_in_plan', 'tag_syntax', 'validation_failed', 'value_too_large'] as const),
  ...(['action_not_defined', 'unknown_resource', 'cycle_not_repeatable', 'unsafe_value', 'not_supported'] as const),
];
const EXAMPLES = { zone: { tags: 'zone=a', name: 'zone a' } };

/** Staged changes made into a plan, shown as a plan, or run on paper. */
export async function processRoutes(app: ApiServer, deps: PropagationApi): Promise<void> {
  app.post(
    '/changes/process',
    {
      schema: {
        tags: ['changes'],
        summary: 'Make a plan of staged changes, after the whole model is staged',
        description:
          'The changes belong to the plan until it succeeds or is abandoned. With `preview` the graph of the plan is answered with 200, and nothing is stored. `pause_before` and `tag_limits` are `not_supported` yet.',
        querystring: ProcessQuerySchema,
        optionalBody: ProcessSchema.meta({ examples: EXAMPLES }),
        response: { 200: PlanPreviewSchema, 201: PlanViewSchema },
      },
      config: { access: 'operator', class: 'bulk', refuses: PROCESSING },
    },
    async (request, reply) => {
      const { tags, name, force, ...later } = optionalBody(request, ProcessSchema);
      refuseLaterMembers(later);
      const by = { ...deps, ...acting(request) };
      const selection = { tags: listOf(tags), name, force };
      if (request.query.preview) return reply.code(200).send(viewOfPreview(await previewChanges(by, selection)));
      const { id } = await processChanges(by, selection);
      return reply.code(201).send(await getPlan(deps.db, id));
    },
  );

  app.post(
    '/changes/simulate',
    {
      schema: {
        tags: ['changes'],
        summary: 'Run the plan that the staged changes would make on paper',
        description: 'What is staged for it is taken back.',
        optionalBody: SimulateChangesSchema.meta({ examples: { one: { outcomes: { 'db.update': 'failed' } } } }),
        response: { 200: SimulateAnswerSchema },
      },
      config: { access: 'reader', class: 'bulk', refuses: PROCESSING },
    },
    async (request) => {
      const { tags, force, outcomes = {} } = optionalBody(request, SimulateChangesSchema);
      return simulateChanges({ ...deps, ...acting(request) }, { tags: listOf(tags), force }, outcomes);
    },
  );

  app.post(
    '/plans/:plan/simulate',
    {
      schema: {
        tags: ['plans'],
        summary: 'Run what a plan would still do on paper',
        params: z.object({ plan: z.string().describe('id of the plan') }),
        optionalBody: SimulatePlanSchema.meta({ examples: { one: { outcomes: { 'db.update': 'failed' } } } }),
        response: { 200: SimulateAnswerSchema },
      },
      config: { access: 'reader', class: 'bulk', refuses: ['plan_not_found'] },
    },
    async (request) => {
      const { outcomes = {} } = optionalBody(request, SimulatePlanSchema);
      return simulatePlan(deps.db, request.params.plan, outcomes);
    },
  );
}

/** One tag expression, or several; an empty text selects nothing in particular. */
function listOf(tags: string | string[] | undefined): readonly string[] | undefined {
  if (tags === undefined || tags === '') return undefined;
  return typeof tags === 'string' ? [tags] : tags;
}

function viewOfPreview({ nodes, edges, cycles, suppressed, order }: PlanPreview): PlanPreviewView {
  return {
    ...{ nodes, edges, suppressed, order },
    cycles: cycles.map(({ members, head, repeated, closed_by }) => ({ members, head, repeated, closed_by })),
  };
}
