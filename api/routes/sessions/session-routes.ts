import { z } from 'zod';
import { cancelSession } from '../../../control/sessions/cancel-session.ts';
import { describedItems, describeSession } from '../../../control/sessions/describe-session.ts';
import { getSession } from '../../../control/sessions/find-session.ts';
import { finishDebug } from '../../../control/sessions/finish-debug.ts';
import { countMatchingSessions, listSessions } from '../../../control/sessions/list-sessions.ts';
import { retrySession } from '../../../control/sessions/retry-session.ts';
import { createSummaryReader } from '../../../control/sessions/summary-reader.ts';
import { musterError } from '../../../domain/errors.ts';
import { SessionDetailSchema, SessionItemSchema } from '../../../domain/sessions/detail-schema.ts';
import { OWN_FILTERS } from '../../../domain/sessions/many-schema.ts';
import { SessionCancelSchema, SessionRetrySchema } from '../../../domain/sessions/schema.ts';
import type { SessionRow } from '../../../store/sessions/sessions.ts';
import { acting } from '../../acting.ts';
import { NextSchema, optionalBody } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { sendList } from '../../server/list-answer.ts';
import { createLiveStreams } from '../../server/streaming/live-stream.ts';
import type { SessionApi } from './dependencies.ts';
import { logLineRoutes } from './log-line-routes.ts';
import { manySessionRoutes } from './many-session-routes.ts';
import { nextPage, SessionIdQuerySchema, SessionListQuerySchema, SessionNameParamsSchema } from './session-queries.ts';
import { sessionStateRoutes } from './session-state-routes.ts';
import { sessionStreamRoutes } from './session-stream-routes.ts';

/** Order of the list; for `newest` the `after_id` is the number that `next` gives. */
const ListQuerySchema = SessionListQuerySchema.extend({
  order: z.enum(['name', 'newest']).default('name').describe('By name, or the newest first.'),
  ...OWN_FILTERS,
  count: z.boolean().optional().describe('Whether to count all that match, in `total`.'),
});

const ListSchema = z.object({
  sessions: z.array(SessionItemSchema),
  next: NextSchema,
  total: z.int().optional().describe('How many match, where `count` asks for it: exact up to 100,000.'),
  more: z.boolean().optional().describe('True where more match than `total` says.'),
});

/** Muster's own session routes: what is known of a session, live data, and its commands. */
export async function musterSessionRoutes(app: ApiServer, deps: SessionApi): Promise<void> {
  const summaries = createSummaryReader(deps.db);
  const live = createLiveStreams(app, deps);
  const bases = {
    ara: deps.araUrl,
    api: deps.publicUrl,
    temporal:
      deps.temporalUiUrl === undefined ? undefined : { url: deps.temporalUiUrl, namespace: deps.temporalNamespace },
  };
  const describe = (row: SessionRow) => describeSession({ db: deps.db, clock: deps.clock, summaries, bases }, row);

  app.get(
    '/sessions',
    {
      schema: {
        tags: ['sessions'],
        summary: 'List sessions, by name or newest first',
        querystring: ListQuerySchema,
        response: { 200: ListSchema },
      },
      config: { access: 'reader', class: 'list', refuses: ['bad_tags', 'bad_hostlist', 'hostlist_too_large'] },
    },
    async ({ query }, reply) => {
      const newest = query.order === 'newest';
      const after = newest
        ? ({ by: 'newest', after: queueNumber(query.after_id) } as const)
        : ({ by: 'name', after: query.after_id ?? '' } as const);
      const page = await listSessions(deps, query, after, query.limit);
      const places = new WeakMap<object, string>();
      const items = describedItems(deps.db, page.batches, bases, (item, row) =>
        places.set(item, newest ? String(row.queue) : row.name),
      );
      const { order, configuration = null, host = null } = query;
      const total = query.count ? await countMatchingSessions(deps, query) : undefined;
      const next = (last: object | undefined, isCut: boolean) =>
        (isCut || page.more()) && last !== undefined
          ? { ...nextPage(query, page.limit, places.get(last) ?? ''), order, configuration, host }
          : null;
      return sendList(reply, 'sessions', items, next, total);
    },
  );

  app.get(
    '/sessions/:session_name',
    {
      schema: {
        tags: ['sessions'],
        summary: 'Everything about a session',
        params: SessionNameParamsSchema,
        querystring: SessionIdQuerySchema,
        response: { 200: SessionDetailSchema },
      },
      config: { access: 'reader', class: 'quick', refuses: ['session_not_found', 'session_replaced'] },
    },
    async ({ params, query }) => describe(await getSession(deps.db, params.session_name, query.id)),
  );

  app.post(
    '/sessions/:session_name/cancel',
    {
      schema: {
        tags: ['sessions'],
        summary: 'Cancel a session; the body {"reason"} is optional',
        params: SessionNameParamsSchema,
        optionalBody: SessionCancelSchema.meta({ examples: { reason: { reason: 'maintenance begins' } } }),
        response: { 202: SessionDetailSchema },
      },
      config: {
        access: 'operator',
        class: 'remote',
        refuses: ['session_not_found', 'session_complete', 'engine_unavailable'],
      },
    },
    async (request, reply) => {
      const { reason } = optionalBody(request, SessionCancelSchema);
      const row = await cancelSession(deps, acting(request), request.params.session_name, reason);
      return reply.code(202).send(await describe(row));
    },
  );

  app.post(
    '/sessions/:session_name/finish-debug',
    {
      schema: {
        tags: ['sessions'],
        summary: 'End the hold after a failure',
        params: SessionNameParamsSchema,
        response: { 202: SessionDetailSchema },
      },
      config: {
        access: 'operator',
        class: 'remote',
        refuses: ['session_not_found', 'session_complete', 'engine_unavailable', 'session_not_holding'],
      },
    },
    async (request, reply) =>
      reply.code(202).send(await describe(await finishDebug(deps, acting(request), request.params.session_name))),
  );

  app.post(
    '/sessions/:session_name/retry',
    {
      schema: {
        tags: ['sessions'],
        summary: 'Run a failed session again: in place while it holds (202), else as a new one (201)',
        description: 'The body {"hosts": "all" | "failed", "name"} is optional.',
        params: SessionNameParamsSchema,
        optionalBody: SessionRetrySchema.meta({ examples: { failed: { hosts: 'failed' } } }),
        response: { 201: SessionDetailSchema, 202: SessionDetailSchema },
      },
      config: {
        access: 'operator',
        class: 'remote',
        refuses: [
          'session_not_found',
          'session_not_complete',
          'nothing_failed',
          'session_exists',
          'configuration_invalid',
          'engine_unavailable',
        ],
      },
    },
    async (request, reply) => {
      const body = optionalBody(request, SessionRetrySchema);
      const { session, created } = await retrySession(deps, acting(request), request.params.session_name, body);
      return reply.code(created ? 201 : 202).send(await describe(session));
    },
  );

  manySessionRoutes(app, deps);
  sessionStreamRoutes(app, deps, live);
  logLineRoutes(app, deps);
  sessionStateRoutes(app, deps, live, summaries);
}

function queueNumber(text: string | undefined): number | null {
  if (text === undefined || text === '') return null;
  if (!/^[0-9]{1,15}$/.test(text)) {
    throw musterError('bad_request', `'${text}' is no place in the list, after_id must come from 'next'`);
  }
  return Number(text);
}
