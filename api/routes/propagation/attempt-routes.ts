import { z } from 'zod';
import { getPlan } from '../../../control/propagation/read-plan.ts';
import { releaseAttempt } from '../../../control/propagation/release-leases.ts';
import {
  getAttempt,
  goneAttempt,
  gonePlan,
  listNodeAttempts,
  readAttemptState,
  readPlanState,
  streamOfAttempt,
} from '../../../control/propagation/show-plan.ts';
import { eventSource, logSource } from '../../../control/runs/row-sources.ts';
import { AttemptSchema, NodeEventSchema } from '../../../domain/propagation/plan-request-schema.ts';
import { LogEntrySchema, type SessionEvent, SessionEventSchema } from '../../../domain/runs/stream-schema.ts';
import { NextSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { JSON_OR_LIVE, JSON_TEXT_OR_LIVE, LIVE, preferredType } from '../../server/streaming/accept.ts';
import { sendLiveRows } from '../../server/streaming/live-rows.ts';
import { createLiveStreams } from '../../server/streaming/live-stream.ts';
import { RowQuerySchema, rowPage, sendText, startOf } from '../../server/streaming/row-pages.ts';
import type { PropagationApi } from './dependencies.ts';

const plan = z.string().describe('id of the plan');
const attempt = z.string().describe('id of the attempt');
const RowsQuerySchema = RowQuerySchema.omit({ layer: true, attempt: true });

/** What happens in a plan as it happens, and what ran for its nodes. */
export async function attemptRoutes(app: ApiServer, deps: PropagationApi): Promise<void> {
  const { db } = deps;
  const live = createLiveStreams(app, deps);
  const streamOf = (id: string) => ({
    ...{ id: `attempt ${id}`, streamId: streamOfAttempt(id), gone: goneAttempt(id) },
    read: () => readAttemptState(db, id),
  });

  app.get(
    '/plans/:plan/events',
    {
      schema: {
        tags: ['plans'],
        summary: 'Transitions of the nodes of a plan; live until the plan ends',
        params: z.object({ plan }),
        querystring: RowsQuerySchema.omit({ host: true }),
        produces: JSON_OR_LIVE,
        response: { 200: z.object({ events: z.array(NodeEventSchema), cursor: z.int(), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list', refuses: ['plan_not_found'] },
    },
    async (request, reply) => {
      const { id } = await getPlan(db, request.params.plan);
      const source = eventSource(db, id, {});
      if (preferredType(request.headers.accept, JSON_OR_LIVE) === LIVE && request.method === 'GET') {
        const stream = { id: `plan ${id}`, streamId: id, read: () => readPlanState(db, id), gone: gonePlan(id) };
        return sendLiveRows(live, request, reply, stream, source, 'node');
      }
      const { rows, cursor, next } = await rowPage(source, request.query);
      return { events: rows.map(nodeEventOf), cursor, next };
    },
  );

  app.get(
    '/plans/:plan/nodes/:node/attempts',
    {
      schema: {
        tags: ['attempts'],
        summary: 'List the attempts of a node, the first one first',
        params: z.object({ plan, node: z.string().describe('id of the node, percent-encoded') }),
        response: { 200: z.object({ attempts: z.array(AttemptSchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list', refuses: ['plan_not_found', 'node_not_found'] },
    },
    async ({ params }) => ({ attempts: await listNodeAttempts(db, params.plan, params.node), next: null }),
  );

  app.get(
    '/attempts/:attempt',
    {
      schema: {
        tags: ['attempts'],
        summary: 'Read an attempt',
        params: z.object({ attempt }),
        response: { 200: AttemptSchema },
      },
      config: { access: 'reader', class: 'quick', refuses: ['attempt_not_found'] },
    },
    ({ params }) => getAttempt(db, params.attempt),
  );

  app.get(
    '/attempts/:attempt/events',
    {
      schema: {
        tags: ['attempts'],
        summary: 'Task events of an attempt; live until it ends',
        params: z.object({ attempt }),
        querystring: RowsQuerySchema.extend({
          type: z.string().optional().describe('Only events of this type.'),
        }),
        produces: JSON_OR_LIVE,
        response: { 200: z.object({ events: z.array(SessionEventSchema), cursor: z.int(), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list', refuses: ['attempt_not_found'] },
    },
    async (request, reply) => {
      const { id } = await getAttempt(db, request.params.attempt);
      const { host, type } = request.query;
      const source = eventSource(db, streamOfAttempt(id), { host, type });
      if (preferredType(request.headers.accept, JSON_OR_LIVE) === LIVE && request.method === 'GET') {
        return sendLiveRows(live, request, reply, streamOf(id), source, 'event');
      }
      const { rows, cursor, next } = await rowPage(source, request.query);
      return { events: rows, cursor, next };
    },
  );

  app.get(
    '/attempts/:attempt/logs',
    {
      schema: {
        tags: ['attempts'],
        summary: 'Output of an attempt, or with host the log of that host; also as text/plain',
        params: z.object({ attempt }),
        querystring: RowsQuerySchema,
        produces: JSON_TEXT_OR_LIVE,
        response: { 200: z.object({ logs: z.array(LogEntrySchema), cursor: z.int(), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list', refuses: ['attempt_not_found'] },
    },
    async (request, reply) => {
      const { id } = await getAttempt(db, request.params.attempt);
      const source = logSource(db, streamOfAttempt(id), { host: request.query.host });
      const type = preferredType(request.headers.accept, JSON_TEXT_OR_LIVE);
      if (type === LIVE && request.method === 'GET') {
        return sendLiveRows(live, request, reply, streamOf(id), source, 'log');
      }
      if (type === 'text/plain') return sendText(reply, source, await startOf(source, request.query));
      const { rows, cursor, next } = await rowPage(source, request.query);
      return { logs: rows, cursor, next };
    },
  );

  app.post(
    '/attempts/:attempt/release',
    {
      schema: {
        tags: ['attempts'],
        summary: 'Give the leases of an attempt back that are held, not verified: its run is gone',
        params: z.object({ attempt }),
        response: { 202: AttemptSchema },
      },
      config: { access: 'operator', class: 'quick', refuses: ['attempt_not_found', 'plan_state'] },
    },
    async (request, reply) => {
      const { id } = await getAttempt(db, request.params.attempt);
      await releaseAttempt(db, id);
      return reply.code(202).send(await getAttempt(db, id));
    },
  );
}

/** A transition has no layer, attempt or host: it is of a node. */
function nodeEventOf({ layer, attempt, host, ...event }: SessionEvent): z.infer<typeof NodeEventSchema> {
  return event as unknown as z.infer<typeof NodeEventSchema>;
}
