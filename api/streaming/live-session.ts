import type { FastifyReply, FastifyRequest } from 'fastify';
import { readStreamState } from '../../store/sessions/session-reads.ts';
import type { ApiDependencies, ApiServer } from '../dependencies.ts';
import { eventStream, type Pass, sendEventStream } from './event-stream.ts';
import { createSharedReads, type SharedReads } from './shared-reads.ts';

/** Live streams of sessions on one server: readers of the same session share what they read. */
export interface LiveSessions {
  shared: SharedReads;
  /** Sends the stream that `pass` makes; `gapMs` as in eventStream. */
  send(reply: FastifyReply, session: { id: string; name: string }, gapMs: number, pass: Pass): FastifyReply;
}

export function createLiveSessions(app: ApiServer, deps: Pick<ApiDependencies, 'db' | 'streams'>): LiveSessions {
  const shared = createSharedReads();
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());
  return {
    shared,
    send: (reply, { id, name }, gapMs, pass) => {
      const topic = deps.streams.join(id);
      const gone = {
        name,
        id,
        status: 'complete',
        succeeded: 'none',
        message: '',
        reason: null,
        deleted: true,
      } as const;
      const readState = (version: number) => shared.read(`state ${id} ${version}`, () => readStreamState(deps.db, id));
      return sendEventStream(
        reply,
        closing.signal,
        (signal) => eventStream({ topic, readState, pass, gone, gapMs, signal }),
        () => topic.leave(),
      );
    },
  };
}

/** Where a reader wants to go on after a lost connection; text that is no number counts as absent. */
export function lastEventId(request: FastifyRequest): number | null {
  const header = request.headers['last-event-id'];
  return typeof header === 'string' && /^[0-9]{1,15}$/.test(header) ? Number(header) : null;
}
