import { createSession } from '../../../control/sessions/create-session.ts';
import { deleteSession } from '../../../control/sessions/delete-session.ts';
import { deleteSessions } from '../../../control/sessions/delete-sessions.ts';
import { getSession } from '../../../control/sessions/find-session.ts';
import { patchSession } from '../../../control/sessions/patch-session.ts';
import { withSlotWaits } from '../../../control/sessions/slot-waits.ts';
import { readOptions } from '../../../store/configurations/options.ts';
import { acting } from '../../acting.ts';
import { NoContentSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { readJsonBody } from '../../server/json-body.ts';
import type { SessionApi } from './dependencies.ts';
import { SessionNameParamsSchema as params } from './session-queries.ts';
import type { SessionWire } from './session-wires.ts';

const tags = ['sessions'];

/** CFS's sessions in one version of the API (cfs-api 8, 9, 10). */
export function cfsSessionRoutes(app: ApiServer, deps: SessionApi, wire: SessionWire): void {
  collectionRoutes(app, deps, wire);
  const path = `${wire.path}/:session_name`;

  app.get(
    path,
    {
      schema: { tags, summary: 'Read a session', params, response: { 200: wire.answers.record } },
      config: { access: 'reader', class: 'quick', refuses: ['session_not_found'] },
    },
    async ({ params }) => {
      const session = await getSession(deps.db, params.session_name);
      const [shown = session] = await withSlotWaits(deps.db, [session], deps.clock());
      return wire.record(shown, await readOptions(deps.db), deps);
    },
  );

  app.patch(
    path,
    {
      schema: { tags, summary: 'Patch the status of a session', params, response: { 200: wire.answers.record } },
      config: {
        access: 'operator',
        class: 'quick',
        refuses: ['body_not_json', 'session_not_found', 'session_job_conflict'],
      },
    },
    async (request) => {
      const { session_name: name } = request.params;
      // That there is no such session is said before what is wrong with the body.
      await getSession(deps.db, name);
      const patch = wire.patch(readJsonBody(request));
      return wire.patched(await patchSession(deps, acting(request), name, patch, wire));
    },
  );

  app.delete(
    path,
    {
      schema: {
        tags,
        summary: 'Delete a session; one that runs is cancelled',
        params,
        response: { 204: NoContentSchema },
      },
      config: { access: 'operator', class: 'quick', refuses: ['session_not_found'] },
    },
    async (request, reply) => {
      await deleteSession(deps, acting(request), request.params.session_name);
      return reply.code(204).send();
    },
  );
}

function collectionRoutes(app: ApiServer, deps: SessionApi, wire: SessionWire): void {
  app.post(
    wire.path,
    {
      schema: {
        tags,
        summary: 'Create a session',
        body: wire.create,
        response: { [wire.created]: wire.answers.record },
      },
      config: {
        access: 'operator',
        class: 'quick',
        refuses: ['session_exists', 'configuration_invalid', 'image_target_unsupported'],
      },
    },
    async (request, reply) => {
      const { session, options } = await createSession(deps, acting(request), wire.wanted(request.body), wire);
      return reply.code(wire.created).send(wire.record(session, options, deps));
    },
  );

  app.get(
    wire.path,
    {
      schema: { tags, summary: 'List sessions', querystring: wire.query, response: { 200: wire.answers.list } },
      config: { access: 'reader', class: 'list', refuses: wire.listRefuses },
    },
    ({ query }, reply) => wire.sendPage(reply, deps, query),
  );

  app.delete(
    wire.path,
    {
      schema: {
        tags,
        summary: 'Delete all sessions that match, by default complete ones',
        querystring: wire.filter,
        response: wire.answers.deleted,
      },
      config: { access: 'operator', class: 'bulk', refuses: ['bad_tags'] },
    },
    async (request, reply) => wire.sendDeleted(reply, await deleteSessions(deps, acting(request), request.query)),
  );
}
