import { z } from 'zod';
import { musterError } from '../../../domain/errors.ts';
import { MAX_TOPICS, StreamTopicsBodySchema, StreamTopicsSchema } from '../../../domain/service/stream-schema.ts';
import { topicNames } from '../../../domain/service/topics.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { JSON_OR_LIVE, LIVE, preferredType } from '../../server/streaming/accept.ts';
import { databaseAnswers } from '../../server/streaming/database-answers.ts';
import { sendEventStream } from '../../server/streaming/event-stream.ts';
import type { OpenTopic } from '../../server/streaming/topic-watches.ts';
import { createTopicBook } from '../../server/streaming/topics.ts';
import type { ServiceApi } from './dependencies.ts';

const tags = ['service'];

/** The one stream of a browser: it says what changed, and the browser reads that again. */
export async function streamRoutes(
  app: ApiServer,
  { db, log }: Pick<ServiceApi, 'db' | 'log'>,
  sources: Readonly<Record<string, OpenTopic>>,
): Promise<void> {
  const answers = databaseAnswers(db);
  const book = createTopicBook({ sources, log, answers });
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());
  app.addHook('onClose', async () => book.close());

  app.get(
    '/stream',
    {
      schema: {
        tags,
        summary: 'What changes, live, by topics; as JSON which topics there are',
        description:
          'With `Accept: text/event-stream` live. Messages: `hello` with the id of the stream, `changed` with `topic`, `key` and `revision`, `resync` when all has to be read again. A comment comes every 5 s. While the database is away a stream ends, and none is opened (503).',
        querystring: z.object({
          topics: z
            .string()
            .default('')
            .describe(
              'Topics with commas between them: `sessions`, `session:ID`, `fleet`. Other topics, and topics that need another role, are left out and named.',
            ),
          last_event_id: z
            .string()
            .optional()
            .describe(
              'Id of the last message of the stream before: what changed since is told. `Last-Event-ID` does the same.',
            ),
        }),
        produces: JSON_OR_LIVE,
        response: { 200: StreamTopicsSchema },
      },
      config: { access: 'reader', class: 'free' },
    },
    async (request, reply) => {
      const names = topicNames(request.query.topics);
      if (names.length > MAX_TOPICS) {
        throw musterError('bad_request', `topics: ${names.length} are more than ${MAX_TOPICS}`, 'topics');
      }
      if (request.method !== 'GET' || preferredType(request.headers.accept, JSON_OR_LIVE) !== LIVE) {
        return book.describe(request, names);
      }
      if (!(await answers())) throw musterError('storage_unavailable', 'The database is away: nothing can be told');
      const header = request.headers['last-event-id'];
      const after = request.query.last_event_id ?? (typeof header === 'string' ? header : null);
      const reader = book.open(request, names, after);
      return sendEventStream(reply, closing.signal, reader.messages, reader.leave);
    },
  );

  app.post(
    '/stream/:id/topics',
    {
      schema: {
        tags,
        summary: 'Set the topics of an open stream',
        description:
          'A stream lives in one process: behind several, a request that reaches another one is 404, and the client opens its stream again.',
        params: z.object({ id: z.string().describe('Id of the stream, from its first message.') }),
        body: StreamTopicsBodySchema.meta({ examples: { list: { topics: ['sessions', 'fleet'] } } }),
        response: { 200: StreamTopicsSchema },
      },
      config: { access: 'reader', class: 'free', refuses: ['not_found'] },
    },
    async (request) => {
      const reader = book.find(request.params.id, request);
      if (reader === undefined) throw musterError('not_found', 'There is no such stream of yours here: open it again');
      return reader.setTopics(request.body.topics);
    },
  );
}
