/** What differs between the versions of the API for sessions: names and forms, and few defaults (cfs-api 8, 9, 10). */
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { SessionWanted } from '../../../control/sessions/create-session.ts';
import { listSessions } from '../../../control/sessions/list-sessions.ts';
import type { Options } from '../../../domain/configurations/schema.ts';
import type { ErrorCode } from '../../../domain/errors.ts';
import { logsLink, type SessionRecord, toSession } from '../../../domain/sessions/record.ts';
import { type SessionCreate, SessionCreateSchema, SessionSchema } from '../../../domain/sessions/schema.ts';
import { V2Session, V2SessionCreate } from '../../../domain/sessions/v2-schema.ts';
import { fromV2StatusPatch } from '../../../domain/sessions/v2-status-patch.ts';
import { NextSchema, NoContentSchema } from '../../answers.ts';
import { mapBatches, sendList, sendWholeList } from '../../server/list-answer.ts';
import type { SessionApi } from './dependencies.ts';
import {
  nextPage,
  SessionFilterQuerySchema,
  type SessionListQuery,
  SessionListQuerySchema,
  V2SessionFilterQuerySchema,
} from './session-queries.ts';

export interface SessionWire {
  path: string;
  create: z.ZodType<SessionCreate>;
  filter: z.ZodType<z.infer<typeof SessionFilterQuerySchema>>;
  query: z.ZodType<SessionListQuery>;
  /** What a list refuses. */
  listRefuses: readonly ErrorCode[];
  /** Status of a create. */
  created: 200 | 201;
  /** Descriptions of answers: one session, a list, what a deletion of many answers by its status. */
  answers: { record: z.ZodType; list: z.ZodType; deleted: Record<number, z.ZodType> };
  /** What a create asks for, with the defaults of this version. */
  wanted(body: SessionCreate): SessionWanted;
  /** Whether names of built-in debugging playbooks may stand for configurations. */
  debugNames: boolean;
  /** A patch in v3's names, and whether it may replace a job that is set. */
  patch(body: unknown): unknown;
  overwriteJob: boolean;
  record(session: SessionRecord, options: Options, deps: SessionApi): unknown;
  patched(session: SessionRecord): unknown;
  sendPage(reply: FastifyReply, deps: SessionApi, query: SessionListQuery): Promise<FastifyReply>;
  sendDeleted(reply: FastifyReply, names: string[]): FastifyReply;
}

function withLogs(session: SessionRecord, options: Options, deps: SessionApi) {
  const bases = { ara: deps.araUrl, api: deps.publicUrl };
  return toSession(session, options.include_ara_links ? logsLink(session.name, bases) : null);
}

const inV2 = (session: SessionRecord) => V2Session.show(toSession(session, null));

export const SESSIONS_V3: SessionWire = {
  path: '/v3/sessions',
  create: SessionCreateSchema.meta({
    examples: {
      small: { name: 'nightly', configuration_name: 'site' },
      limited: { name: 'one-host', configuration_name: 'site', ansible_limit: 'x1', configuration_limit: 'base' },
    },
  }),
  filter: SessionFilterQuerySchema,
  query: SessionListQuerySchema,
  listRefuses: ['bad_tags'],
  created: 201,
  answers: {
    record: SessionSchema,
    list: z.object({ sessions: z.array(SessionSchema), next: NextSchema }),
    deleted: { 200: z.object({ session_ids: z.array(z.string()) }) },
  },
  wanted: (body) => body,
  debugNames: true,
  patch: (body) => body,
  overwriteJob: false,
  record: withLogs,
  patched: (session) => toSession(session, null),
  async sendPage(reply, deps, query) {
    const page = await listSessions(deps, query, { by: 'name', after: query.after_id ?? '' }, query.limit);
    const records = mapBatches(page.batches, (session) => withLogs(session, page.options, deps));
    return sendList(reply, 'sessions', records, (last, isCut) =>
      (isCut || page.more()) && last !== undefined ? nextPage(query, page.limit, last.name) : null,
    );
  },
  sendDeleted: (reply, names) => reply.send({ session_ids: names }),
};

export const SESSIONS_V2: SessionWire = {
  path: '/v2/sessions',
  create: V2SessionCreate.input.meta({ examples: { small: { name: 'nightly', configurationName: 'site' } } }),
  filter: V2SessionFilterQuerySchema,
  query: V2SessionFilterQuerySchema,
  listRefuses: ['list_too_large', 'bad_tags'],
  created: 200,
  answers: { record: V2Session.object, list: z.array(V2Session.object), deleted: { 204: NoContentSchema } },
  wanted: (body) => ({
    ...body,
    ansible_limit: body.ansible_limit ?? null,
    ansible_passthrough: body.ansible_passthrough ?? null,
  }),
  debugNames: false,
  patch: fromV2StatusPatch,
  overwriteJob: true,
  record: inV2,
  patched: inV2,
  sendPage: (reply, deps, query) =>
    sendWholeList(reply, () => listSessions(deps, query, { by: 'name', after: '' }, undefined), inV2),
  sendDeleted: (reply) => reply.code(204).send(),
};
