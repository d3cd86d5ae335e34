import { z } from 'zod';
import { createSession } from '../../../control/sessions/create-session.ts';
import { deleteSession } from '../../../control/sessions/delete-session.ts';
import { deleteSessions } from '../../../control/sessions/delete-sessions.ts';
import { getSession } from '../../../control/sessions/find-session.ts';
import { listSessions } from '../../../control/sessions/list-sessions.ts';
import { patchSession } from '../../../control/sessions/patch-session.ts';
import type { Options } from '../../../domain/configurations/schema.ts';
import { logsLink, type SessionRecord, toSession } from '../../../domain/sessions/record.ts';
import { type Session, SessionCreateSchema, SessionSchema } from '../../../domain/sessions/schema.ts';
import { readOptions } from '../../../store/options.ts';
import { acting } from '../../acting.ts';
import type { ApiDependencies, ApiServer } from '../../dependencies.ts';
import { readJsonBody } from '../../json-body.ts';
import { mapBatches, sendList } from '../../list-answer.ts';
import { NextSchema } from '../../next-page.ts';
import { NoContentSchema } from '../../no-content.ts';
import {
  nextPage,
  SessionFilterQuerySchema,
  SessionListQuerySchema,
  SessionNameParamsSchema,
} from './session-queries.ts';

/** CFS's sessions, version 3 (cfs-api 8-10). */
export async function cfsSessionRoutes(app: ApiServer, deps: ApiDependencies): Promise<void> {
  const bases = { ara: deps.araUrl, api: deps.publicUrl };
  const show = (session: SessionRecord, options: Options): Session =>
    toSession(session, options.include_ara_links ? logsLink(session.name, bases) : null);

  app.post(
    '/v3/sessions',
    {
      schema: {
        tags: ['sessions'],
        summary: 'Create a session',
        body: SessionCreateSchema,
        response: { 201: SessionSchema },
      },
    },
    async (request, reply) => {
      const { session, options } = await createSession(acting(deps, request), request.body);
      return reply.code(201).send(show(session, options));
    },
  );

  app.get(
    '/v3/sessions',
    {
      schema: {
        tags: ['sessions'],
        summary: 'List sessions',
        querystring: SessionListQuerySchema,
        response: { 200: z.object({ sessions: z.array(SessionSchema), next: NextSchema }) },
      },
    },
    async ({ query }, reply) => {
      const page = await listSessions(deps, query, { by: 'name', after: query.after_id ?? '' }, query.limit);
      const records = mapBatches(page.batches, (session) => show(session, page.options));
      return sendList(reply, 'sessions', records, (last) =>
        page.more() && last !== undefined ? nextPage(query, page.limit, last.name) : null,
      );
    },
  );

  app.delete(
    '/v3/sessions',
    {
      schema: {
        tags: ['sessions'],
        summary: 'Delete all sessions that match, by default complete ones',
        querystring: SessionFilterQuerySchema,
        response: { 200: z.object({ session_ids: z.array(z.string()) }) },
      },
    },
    async (request) => ({ session_ids: await deleteSessions(acting(deps, request), request.query) }),
  );

  app.get(
    '/v3/sessions/:session_name',
    {
      schema: {
        tags: ['sessions'],
        summary: 'Read a session',
        params: SessionNameParamsSchema,
        response: { 200: SessionSchema },
      },
    },
    async ({ params }) => show(await getSession(deps.db, params.session_name), await readOptions(deps.db)),
  );

  app.patch(
    '/v3/sessions/:session_name',
    {
      schema: {
        tags: ['sessions'],
        summary: 'Patch the status of a session',
        params: SessionNameParamsSchema,
        response: { 200: SessionSchema },
      },
    },
    async (request) => {
      const body = readJsonBody(request);
      return toSession(await patchSession(acting(deps, request), request.params.session_name, body), null);
    },
  );

  app.delete(
    '/v3/sessions/:session_name',
    {
      schema: {
        tags: ['sessions'],
        summary: 'Delete a session; one that runs is cancelled',
        params: SessionNameParamsSchema,
        response: { 204: NoContentSchema },
      },
    },
    async (request, reply) => {
      await deleteSession(acting(deps, request), request.params.session_name);
      return reply.code(204).send(undefined);
    },
  );
}
