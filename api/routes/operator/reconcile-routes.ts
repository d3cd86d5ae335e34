import { z } from 'zod';
import { getReconcile, readReconcile } from '../../../control/operator/read-operators.ts';
import { eventSource, logSource } from '../../../control/runs/row-sources.ts';
import { runIdOfReconcile } from '../../../domain/operator/reconcile.ts';
import { OperatorReconcileSchema } from '../../../domain/operator/view-schema.ts';
import { LogEntrySchema, SessionEventSchema } from '../../../domain/runs/stream-schema.ts';
import { readReconcileState } from '../../../store/operator/reads.ts';
import { NextSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { JSON_OR_LIVE, JSON_TEXT_OR_LIVE, LIVE, preferredType } from '../../server/streaming/accept.ts';
import { sendLiveRows } from '../../server/streaming/live-rows.ts';
import { createLiveStreams, type LiveSource } from '../../server/streaming/live-stream.ts';
import { RowQuerySchema, rowPage, sendText, startOf } from '../../server/streaming/row-pages.ts';
import type { ApiShared } from '../../shared/api-shared.ts';

const tags = ['operator'];
const params = z.object({ reconcile: z.string().describe('id of the reconcile') });
const ReconcileRowQuerySchema = RowQuerySchema.omit({ layer: true, attempt: true });
type State = NonNullable<Awaited<ReturnType<typeof readReconcileState>>>;

/** Records of reconciles, with the events and the output of their runs as pages, as text or live until the record has ended. */
export async function reconcileRoutes(app: ApiServer, deps: ApiShared): Promise<void> {
  const { db } = deps;
  const live = createLiveStreams(app, deps);
  /** A record that has no run yet may get one, whose id is known. */
  const streamOf = (id: string): LiveSource<State> => ({
    id: `reconcile ${id}`,
    streamId: runIdOfReconcile(id),
    read: () => readReconcileState(db, id),
    gone: { id, outcome: null, messages: [], deleted: true },
  });

  app.get(
    '/operator/reconciles/:reconcile',
    {
      schema: {
        tags,
        summary: 'Show a reconcile: its cause, how it ended, and what it wrote',
        params,
        response: { 200: OperatorReconcileSchema },
      },
      config: { access: 'reader', class: 'quick', refuses: ['operator_reconcile_not_found'] },
    },
    (request) => getReconcile(deps, request.params.reconcile),
  );

  app.get(
    '/operator/reconciles/:reconcile/events',
    {
      schema: {
        tags,
        summary: "Events of a reconcile's run",
        params,
        querystring: ReconcileRowQuerySchema.extend({
          type: z.string().optional().describe('Only events of this type.'),
          result: z.string().optional().describe('Only events with this result of a task.'),
        }),
        produces: JSON_OR_LIVE,
        response: { 200: z.object({ events: z.array(SessionEventSchema), cursor: z.int(), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list', refuses: ['operator_reconcile_not_found'] },
    },
    async (request, reply) => {
      const { id } = await readReconcile(deps, request.params.reconcile);
      const source = eventSource(db, runIdOfReconcile(id), request.query);
      if (preferredType(request.headers.accept, JSON_OR_LIVE) === LIVE && request.method === 'GET') {
        return sendLiveRows(live, request, reply, streamOf(id), source, 'event');
      }
      const { rows, cursor, next } = await rowPage(source, request.query);
      return { events: rows, cursor, next };
    },
  );

  app.get(
    '/operator/reconciles/:reconcile/logs',
    {
      schema: {
        tags,
        summary: "Output of a reconcile's run; also as text/plain",
        params,
        querystring: ReconcileRowQuerySchema,
        produces: JSON_TEXT_OR_LIVE,
        response: { 200: z.object({ logs: z.array(LogEntrySchema), cursor: z.int(), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list', refuses: ['operator_reconcile_not_found'] },
    },
    async (request, reply) => {
      const { id } = await readReconcile(deps, request.params.reconcile);
      const source = logSource(db, runIdOfReconcile(id), { host: request.query.host });
      const type = preferredType(request.headers.accept, JSON_TEXT_OR_LIVE);
      if (type === LIVE && request.method === 'GET') {
        return sendLiveRows(live, request, reply, streamOf(id), source, 'log');
      }
      if (type === 'text/plain') return sendText(reply, source, await startOf(source, request.query));
      const { rows, cursor, next } = await rowPage(source, request.query);
      return { logs: rows, cursor, next };
    },
  );
}
