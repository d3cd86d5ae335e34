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
        summary:
          'Stop everything: batcher, rollouts, schedules, operators, new phases of deployments, and all sessions and reconciles that have not ended',
        description:
          'Sessions that somebody makes afterwards run, with a warning. What a deployment has begun at its clusters goes on; nothing new of it begins. ' +
          'The same request again stops what has begun since.',
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
        summary: 'Let everything go on that was stopped; cancelled sessions stay cancelled, resources reconcile again',
        description: 'The body {"reason"} is optional. What was paused by hand stays paused.',
        optionalBody: GoBodySchema.meta({ examples: { over: { reason: 'the cooling is mended' } } }),
        response: { 200: StopAnswerSchema },
      },
      config: { access: 'operator', class: 'bulk', refuses: ['changed_meanwhile'] },
    },
    (request) => goOn(deps, acting(request), optionalBody(request, GoBodySchema).reason),
  );
}

/** Routes that make what a person may expect to begin, without the prefixes, each with what is told while everything is stopped. */
const TOLD: readonly { route: RegExp; text: string }[] = [
  {
    route: /\/(v[23]\/sessions|sessions\/retry|sessions\/:session_name\/retry)$/,
    text: 'everything is stopped: this session runs all the same, what is automatic waits for ./muster go',
  },
  {
    route: /\/deployment-intent-groups\/:group\/(instantiate|terminate)$/,
    text: 'everything is stopped: this is recorded, and begins at the clusters after ./muster go',
  },
];

/** What a person asks for while everything is stopped is accepted, with a warning. */
export function warnWhileStopped(app: ApiServer, { db }: Pick<ApiShared, 'db'>): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const isAccepted = reply.statusCode >= 200 && reply.statusCode < 300;
    const told = TOLD.find(({ route }) => route.test(request.routeOptions.url ?? ''));
    if (request.method !== 'POST' || !isAccepted || told === undefined) return payload;
    // The record is made: a database that goes away now is no failure of the request.
    const stop = await readStop(db).catch(() => null);
    if (stop !== null && stop.stoppedAt !== null) warn(reply, [told.text]);
    return payload;
  });
}
