import { z } from 'zod';
import { resumeRollout, stopRolloutByHand } from '../../../control/batches/command-rollout.ts';
import { getRollout, listRollouts } from '../../../control/batches/read-rollouts.ts';
import {
  RolloutDetailSchema,
  RolloutListQuerySchema,
  RolloutSchema,
  RolloutStopSchema,
} from '../../../domain/batches/rollout-schema.ts';
import { acting } from '../../acting.ts';
import { NextSchema, optionalBody } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { pageAnswer } from '../../server/list-answer.ts';
import type { BatchApi } from './dependencies.ts';

const tags = ['rollouts'];
const params = z.object({ configuration: z.string().describe('name of the configuration') });

/** How changes of configurations go over their components. */
export async function rolloutRoutes(app: ApiServer, deps: BatchApi): Promise<void> {
  app.get(
    '/rollouts',
    {
      schema: {
        tags,
        summary: 'List the rollouts of configurations with a rollout policy, newest first',
        querystring: RolloutListQuerySchema,
        response: { 200: z.object({ rollouts: z.array(RolloutSchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list' },
    },
    async ({ query }) => {
      const { rollouts, more } = await listRollouts(deps.db, query);
      return pageAnswer('rollouts', rollouts, more, ({ id }) => ({ ...query, after_id: id }));
    },
  );

  app.get(
    '/rollouts/:configuration',
    {
      schema: {
        tags,
        summary: 'The current rollout of a configuration',
        params,
        response: { 200: RolloutDetailSchema },
      },
      config: { access: 'reader', class: 'quick', refuses: ['rollout_not_found'] },
    },
    ({ params: { configuration } }) => getRollout(deps.db, configuration),
  );

  app.post(
    '/rollouts/:configuration/stop',
    {
      schema: {
        tags,
        summary: 'Send nothing more of a configuration; its sessions go on',
        description: 'The body {"reason"} is optional.',
        params,
        optionalBody: RolloutStopSchema,
        response: { 200: RolloutDetailSchema },
      },
      config: { access: 'operator', class: 'quick', refuses: ['rollout_not_found', 'rollout_not_running'] },
    },
    async (request) => {
      const { configuration } = request.params;
      await stopRolloutByHand(deps, acting(request), configuration, optionalBody(request, RolloutStopSchema).reason);
      return getRollout(deps.db, configuration);
    },
  );

  app.post(
    '/rollouts/:configuration/resume',
    {
      schema: {
        tags,
        summary: 'Let a stopped rollout go on; its failures so far are forgiven',
        params,
        response: { 200: RolloutDetailSchema },
      },
      config: { access: 'operator', class: 'quick', refuses: ['rollout_not_found', 'rollout_not_stopped'] },
    },
    async (request) => {
      const { configuration } = request.params;
      await resumeRollout(deps, acting(request), configuration);
      return getRollout(deps.db, configuration);
    },
  );
}
