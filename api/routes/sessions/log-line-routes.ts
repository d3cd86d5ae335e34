import { z } from 'zod';
import { getSession } from '../../../control/sessions/find-session.ts';
import { createLogIndexes } from '../../../control/sessions/log-index.ts';
import { markLog, readLogLines, searchLog } from '../../../control/sessions/read-log-lines.ts';
import { musterError } from '../../../domain/errors.ts';
import { LIMIT_TEXT } from '../../../domain/schema.ts';
import { LogLinesSchema, LogMarksSchema, LogSearchSchema } from '../../../domain/sessions/log-schema.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { MAX_PAGE, RowQuerySchema } from '../../server/streaming/row-pages.ts';
import type { SessionApi } from './dependencies.ts';
import { SessionIdQuerySchema, SessionNameParamsSchema } from './session-queries.ts';

const { layer, attempt } = RowQuerySchema.shape;
const PlaceSchema = SessionIdQuerySchema.extend({
  layer: layer.describe('Index of the layer, from 0. Left out: that of the newest output.'),
  attempt: attempt.describe('From 1. Left out: that of the newest output.'),
});

/** Lines of a page where nothing is said. */
const PAGE = 500;
/** Longest text that is looked for, characters. */
const SOUGHT_MAX = 1_000;
const number = (least: number) => z.int().min(least).max(Number.MAX_SAFE_INTEGER);

const LinesQuerySchema = PlaceSchema.extend({
  from: number(1).default(1).describe('Number of the first line.'),
  limit: z.int().min(1).max(MAX_PAGE).default(PAGE).describe(LIMIT_TEXT),
  tail: z.int().min(1).max(MAX_PAGE).optional().describe('The last so many lines instead of those from a number on.'),
  whole: z.boolean().optional().describe('Lines of up to 1,000,000 characters whole, instead of 4,000 of them.'),
});

const SearchQuerySchema = PlaceSchema.extend({
  q: z
    .string()
    .min(1)
    .max(SOUGHT_MAX)
    .optional()
    .describe('Text that a line has in it. It is no pattern. Colours are no part of a line.'),
  case: z.boolean().optional().describe('Whether upper and lower case differ; they do not where it is left out.'),
  failures: z.boolean().optional().describe('Only lines that say that a task failed, or that a host was not reached.'),
  after: number(0).default(0).describe('Only lines behind this one.'),
  limit: z.int().min(1).max(MAX_PAGE).default(MAX_PAGE).describe(LIMIT_TEXT),
});

/** The output of one layer in one attempt by the numbers of its lines, from 1. */
export function logLineRoutes(app: ApiServer, { db }: SessionApi): void {
  const deps = { db, logs: createLogIndexes(db) };
  const config = { access: 'reader', class: 'list', refuses: ['session_not_found', 'session_replaced'] } as const;

  app.get(
    '/sessions/:session_name/log-lines',
    {
      schema: {
        tags: ['sessions'],
        summary: "Lines of the output of a session's playbook, by number",
        params: SessionNameParamsSchema,
        querystring: LinesQuerySchema,
        response: { 200: LogLinesSchema },
      },
      config,
    },
    async ({ params, query }) => readLogLines(deps, await getSession(db, params.session_name, query.id), query),
  );

  app.get(
    '/sessions/:session_name/log-search',
    {
      schema: {
        tags: ['sessions'],
        summary: "Lines of the output of a session's playbook that have a text in them, or say that something failed",
        params: SessionNameParamsSchema,
        querystring: SearchQuerySchema,
        response: { 200: LogSearchSchema },
      },
      config,
    },
    async ({ params, query }, reply) => {
      if (query.q === undefined && !query.failures) {
        throw musterError('bad_request', 'Say what to look for: a text by q, or failures=true', 'q');
      }
      return searchLog(deps, await getSession(db, params.session_name, query.id), query, () => reply.raw.destroyed);
    },
  );

  app.get(
    '/sessions/:session_name/log-marks',
    {
      schema: {
        tags: ['sessions'],
        summary: 'Numbers of the lines that say what failed, and that begin a task or a play',
        params: SessionNameParamsSchema,
        querystring: PlaceSchema,
        response: { 200: LogMarksSchema },
      },
      config,
    },
    async ({ params, query }) => markLog(deps, await getSession(db, params.session_name, query.id), query),
  );
}
