import { z } from 'zod';
import { getSession, sessionNotFound } from '../../../control/sessions/find-session.ts';
import { describeHosts, listHosts } from '../../../control/sessions/read-hosts.ts';
import { readProgress } from '../../../control/sessions/read-progress.ts';
import type { SummaryReader } from '../../../control/sessions/summary-reader.ts';
import { LIMIT_TEXT } from '../../../domain/schema.ts';
import { SessionHostSchema, SessionProgressSchema } from '../../../domain/sessions/detail-schema.ts';
import { readEventTime } from '../../../store/runs/event-reads.ts';
import {
  readHostNames,
  readHostsOfRun,
  readHostsTouched,
  readRunsWithResults,
} from '../../../store/runs/host-result-reads.ts';
import { readStreamState } from '../../../store/sessions/session-reads.ts';
import { NextSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { pageAnswer } from '../../server/list-answer.ts';
import { JSON_OR_LIVE, LIVE, preferredType } from '../../server/streaming/accept.ts';
import { type LiveStreams, lastEventId } from '../../server/streaming/live-stream.ts';
import { MAX_PAGE } from '../../server/streaming/row-pages.ts';
import { type HostStream, hostPass, progressPass, STREAM_PAGE } from '../../server/streaming/session-passes.ts';
import type { SessionApi } from './dependencies.ts';
import { sessionStream } from './session-live.ts';
import { SessionIdQuerySchema, SessionNameParamsSchema } from './session-queries.ts';

/** Milliseconds between two messages that tell of a state. */
const GAP_MS = 250;

/** Hosts and progress of a session: as they are now, or live with `Accept: text/event-stream`. */
export function sessionStateRoutes(
  app: ApiServer,
  { db, clock }: SessionApi,
  live: LiveStreams,
  summaries: SummaryReader,
): void {
  const hostStream = (id: string, after: number | null): HostStream => {
    const described = async (names: string[]) => describeHosts(db, id, names);
    return {
      after,
      all: async (name) => described(await readHostNames(db, id, name, STREAM_PAGE)),
      touched: (above, upTo, name) =>
        live.shared.read(`touched ${id} ${above} ${upTo} ${name}`, async () =>
          described(await readHostsTouched(db, id, { above, upTo }, name, STREAM_PAGE)),
        ),
      ofRun: (run, name) =>
        live.shared.read(`run ${run.id} ${run.changedAt?.getTime()} ${name}`, async () =>
          described(await readHostsOfRun(db, run.id, name, STREAM_PAGE)),
        ),
      runs: () => readRunsWithResults(db, id),
      timeOf: (seq) => readEventTime(db, id, seq),
    };
  };

  app.get(
    '/sessions/:session_name/hosts',
    {
      schema: {
        tags: ['sessions'],
        summary: 'What each host reached in a session',
        params: SessionNameParamsSchema,
        querystring: SessionIdQuerySchema.extend({
          limit: z.int().min(1).max(MAX_PAGE).default(100).describe(LIMIT_TEXT),
          /** Name of the last host that the reader has. */
          after: z
            .string()
            .default('')
            .describe('What the last page or message ended with: only what comes behind it is answered.'),
          /**
           * `result`, the default: those that failed first, then those that are not finished or were not reached, once the session is complete.
           * `name`: by code point, as always while it goes on.
           */
          order: z
            .enum(['name', 'result'])
            .optional()
            .describe('By name, or by result once the session is complete: hosts that failed first.'),
        }),
        produces: JSON_OR_LIVE,
        response: { 200: z.object({ hosts: z.array(SessionHostSchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list', refuses: ['session_not_found', 'session_replaced'] },
    },
    async (request, reply) => {
      const session = await getSession(db, request.params.session_name, request.query.id);
      if (request.method === 'GET' && preferredType(request.headers.accept, JSON_OR_LIVE) === LIVE) {
        return live.send(
          reply,
          sessionStream(db, session),
          GAP_MS,
          hostPass(hostStream(session.id, lastEventId(request))),
        );
      }
      const { limit, after } = request.query;
      // A page goes on in the order of the page before it, also when the session has ended between them.
      const { order = after === '' ? 'result' : 'name' } = request.query;
      const byResult = order === 'result' && session.status === 'complete';
      const { hosts, more } = await listHosts(db, session.id, { after, limit, byResult });
      const ordered = byResult ? { order: 'result' } : {};
      return pageAnswer('hosts', hosts, more, ({ host }) => ({ limit, after: host, ...ordered }));
    },
  );

  app.get(
    '/sessions/:session_name/progress',
    {
      schema: {
        tags: ['sessions'],
        summary: 'What a session does now',
        params: SessionNameParamsSchema,
        querystring: SessionIdQuerySchema,
        produces: JSON_OR_LIVE,
        response: { 200: SessionProgressSchema },
      },
      config: { access: 'reader', class: 'list', refuses: ['session_not_found', 'session_replaced'] },
    },
    async (request, reply) => {
      const session = await getSession(db, request.params.session_name, request.query.id);
      if (request.method === 'GET' && preferredType(request.headers.accept, JSON_OR_LIVE) === LIVE) {
        const read = progressPass((state) => readProgress({ db, summaries, clock }, state));
        return live.send(reply, sessionStream(db, session), GAP_MS, read);
      }
      const state = await readStreamState(db, session.id);
      if (state === null) throw sessionNotFound(session.name);
      return readProgress({ db, summaries, clock }, state);
    },
  );
}
