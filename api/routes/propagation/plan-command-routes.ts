import { z } from 'zod';
import {
  abandonPlan,
  abortPlan,
  type CommandDependencies,
  pausePlan,
  removePlan,
  resumePlan,
  retryPlan,
  runPlan,
  stopPlan,
  unpausePlan,
} from '../../../control/propagation/command-plan.ts';
import { getPlan } from '../../../control/propagation/read-plan.ts';
import type { ErrorCode } from '../../../domain/errors.ts';
import { RetrySchema, RunSchema } from '../../../domain/propagation/plan-request-schema.ts';
import { PlanViewSchema } from '../../../domain/propagation/plan-view-schema.ts';
import { acting } from '../../acting.ts';
import { NoContentSchema, optionalBody } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { PropagationApi } from './dependencies.ts';
import { refuseLaterMembers } from './later-routes.ts';

const tags = ['plans'];
const params = z.object({ plan: z.string().describe('id of the plan') });

interface Command {
  verb: string;
  summary: string;
  work: (deps: CommandDependencies, id: string) => Promise<unknown>;
  /** Refused beside a plan that is not there or in another state. */
  refuses?: readonly ErrorCode[];
}

const COMMANDS: readonly Command[] = [
  { verb: 'stop', summary: 'End a plan: what is in progress finishes, nothing else starts', work: stopPlan },
  { verb: 'abort', summary: 'End a plan and what is in progress', work: abortPlan },
  { verb: 'pause', summary: 'Start nothing new of a plan', work: pausePlan },
  { verb: 'unpause', summary: 'Go on with a paused plan', work: unpausePlan },
  {
    verb: 'resume',
    summary: 'Go on with a plan that has ended: with what was skipped, blocked or not triggered',
    work: resumePlan,
    refuses: ['not_supported'],
  },
  { verb: 'abandon', summary: 'Give a plan up for good, and free what it has not committed', work: abandonPlan },
];

/** What users ask of a plan. Each command is on record when it is answered; the plan obeys soon after. */
export async function planCommandRoutes(app: ApiServer, deps: PropagationApi): Promise<void> {
  app.post(
    '/plans/:plan/run',
    {
      schema: {
        tags,
        summary: 'Start a plan',
        description: '`pause_before` and `tag_limits` are `not_supported` yet.',
        params,
        optionalBody: RunSchema.meta({ examples: { plain: {} } }),
        response: { 202: PlanViewSchema },
      },
      config: { access: 'operator', class: 'quick', refuses: ['plan_not_found', 'plan_state', 'not_supported'] },
    },
    async (request, reply) => {
      refuseLaterMembers(optionalBody(request, RunSchema));
      await runPlan({ ...deps, ...acting(request) }, request.params.plan);
      return reply.code(202).send(await getPlan(deps.db, request.params.plan));
    },
  );

  for (const { verb, summary, work, refuses = [] } of COMMANDS) {
    app.post(
      `/plans/:plan/${verb}`,
      {
        schema: { tags, summary, params, response: { 202: PlanViewSchema } },
        config: { access: 'operator', class: 'quick', refuses: ['plan_not_found', 'plan_state', ...refuses] },
      },
      async (request, reply) => {
        await work({ ...deps, ...acting(request) }, request.params.plan);
        return reply.code(202).send(await getPlan(deps.db, request.params.plan));
      },
    );
  }

  app.post(
    '/plans/:plan/retry',
    {
      schema: {
        tags,
        summary: 'Go on with a plan that has failed: with what failed, and what was blocked by it or not triggered',
        params,
        optionalBody: RetrySchema.meta({ examples: { one: { nodes: ['web.1.run'] } } }),
        response: { 202: PlanViewSchema },
      },
      config: {
        access: 'operator',
        class: 'quick',
        refuses: ['plan_not_found', 'plan_state', 'node_not_found', 'not_supported'],
      },
    },
    async (request, reply) => {
      const { nodes } = optionalBody(request, RetrySchema);
      await retryPlan({ ...deps, ...acting(request) }, request.params.plan, nodes);
      return reply.code(202).send(await getPlan(deps.db, request.params.plan));
    },
  );

  app.delete(
    '/plans/:plan',
    {
      schema: {
        tags,
        summary: 'Remove a plan with its nodes, attempts and their runs; history and committed records stay',
        params,
        response: { 204: NoContentSchema },
      },
      config: { access: 'operator', class: 'quick', refuses: ['plan_not_found', 'plan_state'] },
    },
    async (request, reply) => {
      await removePlan(deps, request.params.plan);
      return reply.code(204).send();
    },
  );
}
