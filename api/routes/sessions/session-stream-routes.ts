import { z } from 'zod';
import { eventSource, logSource } from '../../../control/runs/row-sources.ts';
import { getSession } from '../../../control/sessions/find-session.ts';
import { LogEntrySchema, SessionEventSchema } from '../../../domain/runs/stream-schema.ts';
import { NextSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { JSON_OR_LIVE, JSON_TEXT_OR_LIVE, LIVE, preferredType } from '../../server/streaming/accept.ts';
import { sendLiveRows } from '../../server/streaming/live-rows.ts';
import type { LiveStreams } from '../../server/streaming/live-stream.ts';
import { RowQuerySchema, rowPage, sendText, startOf } from '../../server/streaming/row-pages.ts';
import type { SessionApi } from './dependencies.ts';
import { sessionStream } from './session-live.ts';
import { SessionIdQuerySchema, SessionNameParamsSchema } from './session-queries.ts';

const pageOf = <Row extends z.ZodType>(kind: string, row: Row) =>
  z.object({ [kind]: z.array(row), cursor: z.int(), next: NextSchema });

const SessionRowQuerySchema = RowQuerySchema.extend(SessionIdQuerySchema.shape);

/**
 * Events and logs of a session: pages of JSON, logs also as plain text, or with `Accept: text/event-stream` live, with
 * resume by `Last-Event-ID`, until a last message `end` when the session is over and everything was sent.
 */
export function sessionStreamRoutes(app: ApiServer, { db }: SessionApi, live: LiveStreams): void {
  app.get(
    '/sessions/:session_name/events',
    {
      schema: {
        tags: ['sessions'],
        summary: 'Task events of a session',
        params: SessionNameParamsSchema,
        querystring: SessionRowQuerySchema.extend({
          type: z.string().optional().describe('Only events of this type.'),
          result: z.string().optional().describe('Only events with this result of a task.'),
        }),
        produces: JSON_OR_LIVE,
        response: { 200: pageOf('events', SessionEventSchema) },
      },
      config: { access: 'reader', class: 'list', refuses: ['session_not_found', 'session_replaced'] },
    },
    async (request, reply) => {
      const session = await getSession(db, request.params.session_name, request.query.id);
      const source = eventSource(db, session.id, request.query);
      if (preferredType(request.headers.accept, JSON_OR_LIVE) === LIVE && request.method === 'GET') {
        return sendLiveRows(live, request, reply, sessionStream(db, session), source, 'event');
      }
      const { rows, cursor, next } = await rowPage(source, request.query);
      return { events: rows, cursor, next };
    },
  );

  app.get(
    '/sessions/:session_name/logs',
    {
      schema: {
        tags: ['sessions'],
        summary: 'Output of the playbooks of a session, or with host the log of that host; also as text/plain',
        params: SessionNameParamsSchema,
        querystring: SessionRowQuerySchema.extend({
          download: z.boolean().optional().describe('Whether a browser keeps the text as a file.'),
        }),
        produces: JSON_TEXT_OR_LIVE,
        response: { 200: pageOf('logs', LogEntrySchema) },
      },
      config: { access: 'reader', class: 'list', refuses: ['session_not_found', 'session_replaced'] },
    },
    async (request, reply) => {
      const session = await getSession(db, request.params.session_name, request.query.id);
      const source = logSource(db, session.id, request.query);
      const { download, ...query } = request.query;
      if (download) {
        // The name of a session is no name of a file everywhere.
        const file = `${session.name.replace(/[^A-Za-z0-9._-]/g, '_')}.log`;
        reply.header('content-disposition', `attachment; filename="${file}"`);
        return sendText(reply, source, await startOf(source, query));
      }
      const type = preferredType(request.headers.accept, JSON_TEXT_OR_LIVE);
      if (type === LIVE && request.method === 'GET')
        return sendLiveRows(live, request, reply, sessionStream(db, session), source, 'log');
      if (type === 'text/plain') return sendText(reply, source, await startOf(source, query));
      const { rows, cursor, next } = await rowPage(source, query);
      return { logs: rows, cursor, next };
    },
  );
}
