import { z } from 'zod';
import { addEvents, removeEvent, removeEvents } from '../../../control/propagation/add-events.ts';
import { getEvent, pageOfEvents, viewOfEvent } from '../../../control/propagation/read-resources.ts';
import { type ErrorCode, musterError } from '../../../domain/errors.ts';
import { type GivenEvent, GivenEventSchema } from '../../../domain/propagation/event-schema.ts';
import { EventDeleteSchema, EventListQuerySchema } from '../../../domain/propagation/request-schema.ts';
import { EventSchema } from '../../../domain/propagation/schema.ts';
import { acting } from '../../acting.ts';
import { NextSchema, NoContentSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { PropagationApi } from './dependencies.ts';
import { pageOfList } from './pages.ts';

const tags = ['events'];
const params = z.object({ id: z.string().describe('id of the event') });

/** What events that a caller gives are refused with. */
export const EVENT_REFUSALS: readonly ErrorCode[] = [
  'event_syntax',
  'event_condition',
  'event_ambiguous',
  'unknown_resource',
  'action_not_defined',
];

/** Largest body with events, bytes: ten thousand long ones. */
const EVENTS_BODY = 16 * 2 ** 20;
const LINE = 'on db.run changed web.1.reload';

/** Rules that say what the end of one action means for another. */
export async function eventRoutes(app: ApiServer, deps: PropagationApi): Promise<void> {
  app.get(
    '/events',
    {
      schema: {
        tags,
        summary: 'List events',
        querystring: EventListQuerySchema,
        response: { 200: z.object({ events: z.array(EventSchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list' },
    },
    async ({ query }) => {
      const { after_id, limit, ...filter } = query;
      return pageOfList('events', await pageOfEvents(deps.db, filter, after_id, limit), query, ({ id }) => id);
    },
  );

  app.post(
    '/events',
    {
      schema: {
        tags,
        summary: 'Add an event; an event that is there stays',
        description: 'A line of text, or `{type, parent, on, child}` with `parent` and `child` as `resource.action`.',
        body: GivenEventSchema.meta({
          examples: {
            line: LINE,
            members: { type: 'depends_on', parent: 'db.run', on: 'success', child: 'web.1.run' },
          },
        }),
        response: { 201: EventSchema },
      },
      config: { access: 'operator', class: 'quick', takesText: true, refuses: [...EVENT_REFUSALS, 'value_too_large'] },
    },
    async (request, reply) => {
      const { body } = request;
      refuseLarge(typeof body === 'string' ? body : [body]);
      const [added, ...others] = await addEvents(
        { ...deps, ...acting(request) },
        typeof body === 'string' ? oneLine(body) : [body],
      );
      if (added === undefined || others.length > 0) throw notOne();
      return reply.code(201).send(viewOfEvent(added));
    },
  );

  app.post(
    '/events/bulk',
    {
      bodyLimit: EVENTS_BODY,
      schema: {
        tags,
        summary: 'Add many events, all or none',
        description:
          'A list of lines and of `{type, parent, on, child}`, or the lines as `text/plain`. All mistakes are told.',
        body: z.union([z.array(GivenEventSchema), z.string()]).meta({
          id: 'PropagationEvents',
          examples: { list: [LINE, { type: 'depends_on', parent: 'db.run', on: 'success', child: 'web.1.run' }] },
        }),
        response: { 201: z.object({ events: z.array(EventSchema) }) },
      },
      config: {
        access: 'operator',
        class: 'bulk',
        takesText: true,
        refuses: [...EVENT_REFUSALS, 'validation_failed', 'value_too_large'],
      },
    },
    async (request, reply) => {
      refuseLarge(request.body);
      const added = await addEvents({ ...deps, ...acting(request) }, request.body);
      return reply.code(201).send({ events: added.map(viewOfEvent) });
    },
  );

  app.get(
    '/events/:id',
    {
      schema: { tags, summary: 'Read an event', params, response: { 200: EventSchema } },
      config: { access: 'reader', class: 'quick', refuses: ['event_not_found'] },
    },
    ({ params }) => getEvent(deps.db, params.id),
  );

  app.delete(
    '/events/:id',
    {
      schema: { tags, summary: 'Remove an event', params, response: { 204: NoContentSchema } },
      config: { access: 'operator', class: 'quick', refuses: ['event_not_found'] },
    },
    async (request, reply) => {
      await removeEvent({ ...deps, ...acting(request) }, request.params.id);
      return reply.code(204).send();
    },
  );

  app.post(
    '/events/delete',
    {
      schema: {
        tags,
        summary: 'Remove all events that meet every condition',
        body: EventDeleteSchema.meta({ examples: { subscriber: { child: 'web.1' } } }),
        response: { 200: z.object({ deleted: z.int() }) },
      },
      config: { access: 'operator', class: 'bulk' },
    },
    async (request) => ({ deleted: await removeEvents({ ...deps, ...acting(request) }, request.body) }),
  );
}

/** Lines of a body that are read, whatever is on them, and the characters of the longest line. */
const MOST_LINES = 20_000;
const LONGEST_LINE = 4_096;

/**
 * A body is looked at before it is read: the rules tell every mistake, and look for every name.
 * Throws `value_too_large`.
 */
function refuseLarge(body: string | readonly GivenEvent[]): void {
  const lines = typeof body === 'string' ? body.split('\n') : body;
  if (lines.length > MOST_LINES) {
    throw musterError('value_too_large', `${lines.length} lines are too many for one call: at most ${MOST_LINES}`);
  }
  const long = lines.findIndex((line) => lengthOf(line) > LONGEST_LINE);
  if (long === -1) return;
  throw musterError('value_too_large', `Line ${long + 1} is too long: at most ${LONGEST_LINE} characters are read`);
}

function lengthOf(line: GivenEvent): number {
  if (typeof line === 'string') return line.length;
  return line.type.length + line.parent.length + line.on.length + line.child.length;
}

/** The one line of a text that is no comment and not empty. */
function oneLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.trim().startsWith('#'));
  const [line] = lines;
  if (line === undefined || lines.length > 1) throw notOne();
  return line;
}

function notOne() {
  const text = 'The body has to be one event: POST /events/bulk takes several';
  return musterError('event_syntax', text, undefined, [{ code: 'event_syntax', message: text, line: 1, column: 1 }]);
}
