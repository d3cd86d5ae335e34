import { cancelSessions } from '../../../control/sessions/cancel-sessions.ts';
import { deleteChosenSessions } from '../../../control/sessions/delete-chosen-sessions.ts';
import { retrySessions } from '../../../control/sessions/retry-sessions.ts';
import {
  SessionsCancelledSchema,
  SessionsCancelSchema,
  SessionsDeletedSchema,
  SessionsDeleteSchema,
  SessionsRetriedSchema,
  SessionsRetrySchema,
} from '../../../domain/sessions/many-schema.ts';
import { acting } from '../../acting.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { SessionApi } from './dependencies.ts';

const tags = ['sessions'];
/** What choosing sessions can be refused with. */
const CHOICE = ['bad_tags', 'bad_hostlist', 'hostlist_too_large'] as const;

/** Commands to many sessions at once. */
export function manySessionRoutes(app: ApiServer, deps: SessionApi): void {
  app.post(
    '/sessions/cancel',
    {
      schema: {
        tags,
        summary: 'Cancel all sessions that match and have not ended',
        description: 'Sessions that wait for their turn end at once.',
        body: SessionsCancelSchema.meta({
          examples: { waiting: { status: ['pending'], reason: 'maintenance begins' }, named: { names: ['nightly'] } },
        }),
        response: { 202: SessionsCancelledSchema },
      },
      config: { access: 'operator', class: 'quick', refuses: [...CHOICE] },
    },
    async (request, reply) => reply.code(202).send(await cancelSessions(deps, acting(request), request.body)),
  );

  app.post(
    '/sessions/retry',
    {
      schema: {
        tags,
        summary: 'Run many sessions again, each for itself',
        description:
          'A session that holds goes on in place, of a complete one a new session is made. What one of them refuses is told, and the others go on.',
        body: SessionsRetrySchema.meta({
          examples: {
            failed: { filter: { configuration: 'site', max_age: '12h' }, hosts: 'failed', reason: 'mirror is back' },
            named: { names: ['nightly', 'weekly'] },
          },
        }),
        response: { 202: SessionsRetriedSchema },
      },
      config: { access: 'operator', class: 'bulk', refuses: [...CHOICE, 'engine_unavailable'] },
    },
    async (request, reply) => reply.code(202).send(await retrySessions(deps, acting(request), request.body)),
  );

  app.post(
    '/sessions/delete',
    {
      schema: {
        tags,
        summary: 'Delete many sessions with their logs; sessions that run are cancelled',
        description: 'One transaction. A filter without `status` means complete sessions.',
        body: SessionsDeleteSchema.meta({
          examples: { old: { filter: { min_age: '30d' } }, named: { names: ['nightly'], reason: 'made by mistake' } },
        }),
        response: { 200: SessionsDeletedSchema },
      },
      config: { access: 'operator', class: 'bulk', refuses: [...CHOICE] },
    },
    (request) => deleteChosenSessions(deps, acting(request), request.body),
  );
}
