import { z } from 'zod';
import { nextOrder, takeStep, teardownState } from '../../control/sessions/cluster/job-orders.ts';
import { JOB_STEPS, StepReportSchema } from '../../domain/sessions/job-schema.ts';
import { findJobInventory } from '../../store/sessions/session-jobs.ts';
import type { ApiServer } from '../server/api-server.ts';
import type { IngestDependencies } from './dependencies.ts';

/** Longest wait for news in one request, seconds: shorter than what proxies allow. */
const WAIT_MAX = 25;

const params = z.object({ session_id: z.string() });
const stepParams = params.extend({ step: z.enum(JOB_STEPS) });
const wait = z.int().min(0).max(WAIT_MAX).optional();
/** `files`: this pod writes the files that an order names; pods of older releases do not say so. */
const nextQuery = z.object({ after: z.int().min(0).optional(), wait, files: z.int().min(0).max(1).optional() });
const waitQuery = z.object({ wait });
/** A pod that waits for news does nothing meanwhile, so it takes no place from others. */
const WAITS = { class: 'free' } as const;

/** What the pod of a session asks for and says of its steps (runner protocol, version 2); its runs go to `/runs`. */
export async function jobRoutes(app: ApiServer, { db, clock }: IngestDependencies): Promise<void> {
  app.post(
    '/jobs/:session_id/steps/:step',
    { schema: { params: stepParams, body: StepReportSchema }, config: { class: 'quick' } },
    async ({ params: { session_id, step }, body }, reply) => {
      await takeStep({ db, clock }, session_id, step, body);
      return reply.code(204).send();
    },
  );

  app.get('/jobs/:session_id/inventory', { schema: { params }, config: { class: 'list' } }, async (request) => {
    const files = await findJobInventory(db, request.params.session_id);
    return files ?? { files: {} };
  });

  app.get('/jobs/:session_id/next', { schema: { params, querystring: nextQuery }, config: WAITS }, async (request) => {
    const { after = 0, wait: seconds = 0, files } = request.query;
    return nextOrder(db, request.params.session_id, { after, waitMs: seconds * 1000, files: files === 1 });
  });

  app.get(
    '/jobs/:session_id/teardown',
    { schema: { params, querystring: waitQuery }, config: WAITS },
    async (request) => teardownState(db, request.params.session_id, (request.query.wait ?? 0) * 1000),
  );
}
