import { z } from 'zod';
import { connect } from '../../../control/propagation/connect.ts';
import { disconnect, disconnectPair } from '../../../control/propagation/disconnect.ts';
import { pageOfConnections, viewOfConnection, viewOfEvent } from '../../../control/propagation/read-resources.ts';
import {
  ConnectionDeleteQuerySchema,
  ConnectionDeleteSchema,
  ConnectionListQuerySchema,
  DisconnectedSchema,
} from '../../../domain/propagation/request-schema.ts';
import { ConnectedSchema, ConnectionCreateSchema, ConnectionSchema } from '../../../domain/propagation/schema.ts';
import { acting } from '../../acting.ts';
import { NextSchema, NoContentSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { PropagationApi } from './dependencies.ts';
import { EVENT_REFUSALS } from './event-routes.ts';
import { pageOfList } from './pages.ts';

const tags = ['connections'];

/** Values that one resource hands on to another. */
export async function connectionRoutes(app: ApiServer, deps: PropagationApi): Promise<void> {
  app.get(
    '/connections',
    {
      schema: {
        tags,
        summary: 'List connections in the order in which they were made',
        querystring: ConnectionListQuerySchema,
        response: { 200: z.object({ connections: z.array(ConnectionSchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list' },
    },
    async ({ query }) => {
      const { emitter, receiver, after_id, limit } = query;
      const page = await pageOfConnections(deps.db, { emitter, receiver }, after_id, limit);
      return pageOfList('connections', page, query, ({ id }) => id);
    },
  );

  app.post(
    '/connections',
    {
      schema: {
        tags,
        summary:
          'Connect inputs of one resource to inputs of another, add the events of the connection, stage the receiver',
        description:
          'The mapping has to be given: without one it is `not_supported` yet. An empty mapping connects place and transport alone.',
        body: ConnectionCreateSchema.meta({
          examples: {
            names: { emitter: 'db', receiver: 'web.1', mapping: ['ip', 'port'] },
            addresses: {
              emitter: 'db',
              receiver: 'web.1',
              mapping: { ip: ['db_host', 'env:DB_HOST'] },
              events: ['on db.run changed web.1.reload'],
            },
          },
        }),
        response: { 201: ConnectedSchema },
      },
      config: {
        access: 'operator',
        class: 'quick',
        refuses: [
          ...(['unknown_resource', 'input_unknown', 'self_connection', 'input_cycle', 'validation_failed'] as const),
          ...(['secret_by_reference', 'not_supported'] as const),
          ...EVENT_REFUSALS,
        ],
      },
    },
    async (request, reply) => {
      const { emitter, receiver, mapping, events } = request.body;
      const made = await connect({ ...deps, ...acting(request) }, { emitter, receiver, mapping, events });
      const answer = { connections: made.connections.map(viewOfConnection), events: made.events.map(viewOfEvent) };
      return reply.code(201).send(answer);
    },
  );

  app.delete(
    '/connections/:id',
    {
      schema: {
        tags,
        summary: 'Remove a connection and stage its receiver, whose own value counts again',
        params: z.object({ id: z.string().describe('id of the connection') }),
        querystring: ConnectionDeleteQuerySchema,
        response: { 204: NoContentSchema },
      },
      config: { access: 'operator', class: 'quick', refuses: ['connection_not_found'] },
    },
    async (request, reply) => {
      await disconnect({ ...deps, ...acting(request) }, request.params.id, request.query.keep_events);
      return reply.code(204).send();
    },
  );

  app.post(
    '/connections/delete',
    {
      schema: {
        tags,
        summary: 'Remove the connections from one resource to another, all or those of some inputs',
        body: ConnectionDeleteSchema.meta({ examples: { one: { emitter: 'db', receiver: 'web.1', inputs: ['ip'] } } }),
        response: { 200: DisconnectedSchema.describe('the removed connections') },
      },
      config: { access: 'operator', class: 'quick', refuses: ['connection_not_found'] },
    },
    async (request) => {
      const { keep_events, ...pair } = request.body;
      const removed = await disconnectPair({ ...deps, ...acting(request) }, pair, keep_events);
      return { connections: removed.map(viewOfConnection) };
    },
  );
}
