import { goOn, type StopDependencies, stopEverything, stopState } from '../../../control/fleet/stop-everything.ts';
import { GoBodySchema, StopAnswerSchema, StopBodySchema, StopStateSchema } from '../../../domain/fleet/stop-schema.ts';
import { readStop } from '../../../store/fleet/stop.ts';
import { acting } from '../../acting.ts';
import { optionalBody } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { warn } from '../../server/warnings.ts';
import type { ApiShared } from '../../shared/api-shared.ts';

const tags = ['fleet'];

/** *Stop everything*, and going on. */
export async function stopRoutes(app: ApiServer, deps: StopDependencies): Promise<void> {
  app.get(
    '/stop',
    {
      schema: { tags, summary: 'Whether everything is stopped, and why', response: { 200: StopStateSchema } },
      config: { access: 'reader', class: 'quick' },
    },
    () => stopState(deps.db),
  );

  app.post(
    '/stop',
    {
      schema: {
        tags,
        summary: 'Stop everything: batcher, rollouts, schedules and all sessions that have not ended',
        description:
          'Sessions that somebody makes afterwards run, with a warning. The same request again stops what has begun since.',
        body: StopBodySchema.meta({ examples: { maintenance: { reason: 'the cooling fails' } } }),
        response: { 200: StopAnswerSchema },
      },
      config: { access: 'operator', class: 'bulk', refuses: ['changed_meanwhile'] },
    },
    (request) => stopEverything(deps, acting(request), request.body.reason),
  );

  app.post(
    '/go',
    {
      schema: {
        tags,
        summary: 'Let everything go on that was stopped; cancelled sessions stay cancelled',
        description: 'The body {"reason"} is optional. What was paused by hand stays paused.',
        optionalBody: GoBodySchema.meta({ examples: { over: { reason: 'the cooling is mended' } } }),
        response: { 200: StopAnswerSchema },
      },
      config: { access: 'operator', class: 'bulk', refuses: ['changed_meanwhile'] },
    },
    (request) => goOn(deps, acting(request), optionalBody(request, GoBodySchema).reason),
  );
}

/** Routes that make sessions, without the prefixes. */
const MAKES_SESSIONS = /\/(v[23]\/sessions|sessions\/retry|sessions\/:session_name\/retry)$/;
const STOPPED = 'everything is stopped: this session runs all the same, what is automatic waits for ./muster go';

/** A session that somebody makes while everything is stopped is accepted, with a warning. */
export function warnWhileStopped(app: ApiServer, { db }: Pick<ApiShared, 'db'>): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const isAccepted = reply.statusCode >= 200 && reply.statusCode < 300;
    if (request.method !== 'POST' || !isAccepted || !MAKES_SESSIONS.test(request.routeOptions.url ?? ''))
      return payload;
    // The session is made: a database that goes away now is no failure of the request.
    const stop = await readStop(db).catch(() => null);
    if (stop !== null && stop.stoppedAt !== null) warn(reply, [STOPPED]);
    return payload;
  });
}
