import { z } from 'zod';
import { statusOf } from '../../../control/deployments/query-status.ts';
import { placeOf } from '../../../control/deployments/read-deployments.ts';
import { contextEvents, endOf, instanceOf, readContextState } from '../../../control/deployments/read-events.ts';
import { DEPLOYMENT_NAME_TEXT } from '../../../domain/deployments/deployment-schema.ts';
import { ContextEventSchema } from '../../../domain/deployments/event-schema.ts';
import { StatusAnswerSchema, StatusQuerySchema } from '../../../domain/deployments/record-schema.ts';
import type { GivenQuery } from '../../../domain/deployments/status-query.ts';
import { isMusterError, musterError } from '../../../domain/errors.ts';
import { NextSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { JSON_OR_LIVE, LIVE, preferredType } from '../../server/streaming/accept.ts';
import type { Pass } from '../../server/streaming/event-stream.ts';
import { sendLiveRows } from '../../server/streaming/live-rows.ts';
import { createLiveStreams } from '../../server/streaming/live-stream.ts';
import { RowQuerySchema, rowPage } from '../../server/streaming/row-pages.ts';
import type { DeploymentApi } from './dependencies.ts';

const tags = ['deployments'];
const params = z.object({ deployment: z.string().describe(DEPLOYMENT_NAME_TEXT) });
const DEPLOYMENT = '/deployments/:deployment';
/** Time between two answers of a live status at least, ms. */
const STATUS_GAP_MS = 250;
/** A live status is looked at again after so long, ms: what changes in clusters is not announced. */
const STATUS_LOOK_MS = 2_000;
/** The status of tens of thousands of resources takes seconds to be read: a reader of it leaves most of the time to other requests. */
const STATUS_RESTS = 4;

/** What happens in a deployment, and how it stands, as pages or live. */
export async function deploymentEventRoutes(app: ApiServer, deps: DeploymentApi): Promise<void> {
  const { db } = deps;
  const live = createLiveStreams(app, deps);

  app.get(
    `${DEPLOYMENT}/events`,
    {
      schema: {
        tags,
        summary: 'Changes of statuses, states and connectivity in an AppContext; live until it is terminated',
        params,
        querystring: RowQuerySchema.omit({ layer: true, attempt: true, host: true }).extend({
          instance: z.string().max(32).optional().describe('id of an AppContext; default: the last one'),
        }),
        produces: JSON_OR_LIVE,
        response: { 200: z.object({ events: z.array(ContextEventSchema), cursor: z.int(), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list', refuses: ['not_found', 'bad_request', 'invalid_state'] },
    },
    async (request, reply) => {
      const { instance: asked, ...query } = request.query;
      const isLive = preferredType(request.headers.accept, JSON_OR_LIVE) === LIVE && request.method === 'GET';
      const instance = await instanceOf(db, request.params.deployment, asked);
      if (instance === null) {
        if (isLive) throw musterError('invalid_state', 'It has no AppContext to follow yet: instantiate it first');
        return { events: [], cursor: query.after, next: null };
      }
      const source = contextEvents(db, instance);
      if (isLive) {
        const read = () => readContextState(db, instance);
        const stream = { id: `context ${instance}`, streamId: instance, read, gone: endOf(instance, null) };
        return sendLiveRows(live, request, reply, stream, source, 'event');
      }
      const { rows, cursor, next } = await rowPage(source, query);
      return { events: rows, cursor, next: next === null || asked === undefined ? next : { ...next, instance: asked } };
    },
  );

  app.get(
    `${DEPLOYMENT}/status`,
    {
      schema: {
        ...{ tags, summary: 'What is where of a deployment; live the whole answer again whenever it has changed' },
        ...{ params, querystring: StatusQuerySchema, produces: JSON_OR_LIVE },
        response: { 200: StatusAnswerSchema },
      },
      config: { access: 'reader', class: 'quick', refuses: ['not_found', 'bad_request'] },
    },
    async (request, reply) => {
      const name = request.params.deployment;
      const { path } = placeOf(name);
      const answer = await statusOf(deps, 'group', path, request.query);
      if (preferredType(request.headers.accept, JSON_OR_LIVE) !== LIVE || request.method !== 'GET') return answer;
      const instance = await instanceOf(db, name, undefined);
      const stream = {
        ...{ id: `status ${path} ${JSON.stringify(request.query)}`, streamId: instance ?? path },
        read: () => readStatus(deps, path, request.query),
        gone: { name, deleted: true },
        rests: STATUS_RESTS,
      };
      return live.send(reply, stream, STATUS_GAP_MS, statusPass(), STATUS_LOOK_MS);
    },
  );
}

interface StatusState {
  lastEvent: number;
  lastChunk: number;
  over: boolean;
  deleted: boolean;
  end: { name: string; deleted: boolean };
  answer: unknown;
}

/** Returns the status as the state of a stream that has no end of its own; null when the deployment is gone. */
async function readStatus(deps: DeploymentApi, path: string, query: GivenQuery): Promise<StatusState | null> {
  try {
    const answer = await statusOf(deps, 'group', path, query);
    return { lastEvent: 0, lastChunk: 0, over: false, deleted: false, end: { name: '', deleted: false }, answer };
  } catch (error) {
    if (isMusterError(error) && error.code === 'not_found') return null;
    throw error;
  }
}

/** The answer whenever it has changed. */
function statusPass(): Pass<StatusState> {
  let told = '';
  return async function* ({ answer }) {
    const text = JSON.stringify(answer);
    if (text === told) return;
    told = text;
    yield { event: 'status', data: answer };
  };
}
