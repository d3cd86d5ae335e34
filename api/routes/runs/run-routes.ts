import { z } from 'zod';
import { endRun } from '../../../control/runs/end-run.ts';
import { getRun, runView } from '../../../control/runs/read-run.ts';
import { eventSource, logSource } from '../../../control/runs/row-sources.ts';
import { RunSchema } from '../../../domain/runs/run-schema.ts';
import { LogEntrySchema, SessionEventSchema } from '../../../domain/runs/stream-schema.ts';
import { type ReadRun, readRunState } from '../../../store/runs/run-reads.ts';
import { NextSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { JSON_OR_LIVE, JSON_TEXT_OR_LIVE, LIVE, preferredType } from '../../server/streaming/accept.ts';
import { sendLiveRows } from '../../server/streaming/live-rows.ts';
import { createLiveStreams, type LiveSource } from '../../server/streaming/live-stream.ts';
import { RowQuerySchema, rowPage, sendText, startOf } from '../../server/streaming/row-pages.ts';
import type { RunApi } from './dependencies.ts';

const tags = ['runs'];
const RunParamsSchema = z.object({ run: z.string().describe('Id of the run.') });
const RunRowQuerySchema = RowQuerySchema.omit({ layer: true, attempt: true });

/**
 * Single runs of any owner: what a run is, its events and its output as pages, as text or live until it is over, and its end. A run of a
 * session shows the part of the session's stream that is its own.
 */
export async function runRoutes(app: ApiServer, deps: RunApi): Promise<void> {
  const { db } = deps;
  const live = createLiveStreams(app, deps);
  const streamOf = ({ id, streamId }: ReadRun): LiveSource<NonNullable<Awaited<ReturnType<typeof readRunState>>>> => ({
    id,
    streamId,
    read: () => readRunState(db, id),
    gone: { id, state: 'lost', exit_status: null, error: null, deleted: true },
  });
  /** In a stream that several runs share, rows of one are told by layer and attempt. */
  const placeOf = ({ id, streamId, layer, attempt }: ReadRun) => (id === streamId ? {} : { layer, attempt });

  app.get(
    '/runs/:run',
    {
      schema: { tags, summary: 'Show one run', params: RunParamsSchema, response: { 200: RunSchema } },
      config: { access: 'reader', class: 'quick', refuses: ['run_not_found'] },
    },
    async ({ params }) => runView(await getRun(db, params.run)),
  );

  app.get(
    '/runs/:run/events',
    {
      schema: {
        tags,
        summary: 'Task events of a run',
        params: RunParamsSchema,
        querystring: RunRowQuerySchema.extend({
          type: z.string().optional().describe('Only events of this type.'),
          result: z.string().optional().describe('Only events with this result of a task.'),
        }),
        produces: JSON_OR_LIVE,
        response: { 200: z.object({ events: z.array(SessionEventSchema), cursor: z.int(), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list', refuses: ['run_not_found'] },
    },
    async (request, reply) => {
      const run = await getRun(db, request.params.run);
      const source = eventSource(db, run.streamId, { ...request.query, ...placeOf(run) });
      if (preferredType(request.headers.accept, JSON_OR_LIVE) === LIVE && request.method === 'GET') {
        return sendLiveRows(live, request, reply, streamOf(run), source, 'event');
      }
      const { rows, cursor, next } = await rowPage(source, request.query);
      return { events: rows, cursor, next };
    },
  );

  app.get(
    '/runs/:run/logs',
    {
      schema: {
        tags,
        summary: 'Output of a run, or with host the log of that host; also as text/plain',
        params: RunParamsSchema,
        querystring: RunRowQuerySchema,
        produces: JSON_TEXT_OR_LIVE,
        response: { 200: z.object({ logs: z.array(LogEntrySchema), cursor: z.int(), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list', refuses: ['run_not_found'] },
    },
    async (request, reply) => {
      const run = await getRun(db, request.params.run);
      const source = logSource(db, run.streamId, { host: request.query.host, ...placeOf(run) });
      const type = preferredType(request.headers.accept, JSON_TEXT_OR_LIVE);
      if (type === LIVE && request.method === 'GET') {
        return sendLiveRows(live, request, reply, streamOf(run), source, 'log');
      }
      if (type === 'text/plain') return sendText(reply, source, await startOf(source, request.query));
      const { rows, cursor, next } = await rowPage(source, request.query);
      return { logs: rows, cursor, next };
    },
  );

  app.post(
    '/runs/:run/end',
    {
      schema: {
        tags,
        summary: 'End a run on its machine; its owner goes on by its own rules',
        params: RunParamsSchema,
        response: { 202: RunSchema },
      },
      config: {
        access: 'admin',
        class: 'remote',
        refuses: ['run_not_found', 'run_over', 'run_ends_with_owner'],
      },
    },
    async ({ params, actor }, reply) => reply.code(202).send(runView(await endRun({ ...deps, actor }, params.run))),
  );
}
