import type { FastifyReply, FastifyRequest } from 'fastify';
import type { StreamState } from '../../../domain/runs/stream-schema.ts';
import type { ApiShared } from '../../shared/api-shared.ts';
import type { ApiServer } from '../api-server.ts';
import { eventStream, type Pass, sendEventStream } from './event-stream.ts';
import { createSharedReads, type SharedReads } from './shared-reads.ts';

/** What a live stream is read from. */
export interface LiveSource<State extends StreamState> {
  /** Of what is read; readers of the same share what they read. */
  id: string;
  /** Id of the stream that announces its changes; default is `id`. */
  streamId?: string;
  /** How far it can be read now; null when nothing is left of what it belongs to. */
  read(): Promise<State | null>;
  /** The last message when nothing is left. */
  gone: State['end'];
  /** As in eventStream: for what takes long to be read. */
  rests?: number;
}

/** Live streams on one server. */
export interface LiveStreams {
  shared: SharedReads;
  /** Sends the stream that `pass` makes; `gapMs` and `heartbeatMs` as in eventStream. */
  send<State extends StreamState>(
    reply: FastifyReply,
    source: LiveSource<State>,
    gapMs: number,
    pass: Pass<State>,
    heartbeatMs?: number,
  ): FastifyReply;
}

export function createLiveStreams(app: ApiServer, deps: Pick<ApiShared, 'streams'>): LiveStreams {
  const shared = createSharedReads();
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());
  return {
    shared,
    send: (reply, { id, streamId = id, read, gone, rests = 0 }, gapMs, pass, heartbeatMs) => {
      const heart = heartbeatMs === undefined ? {} : { heartbeatMs };
      const topic = deps.streams.join(streamId);
      const readState = (version: number) => shared.read(`state ${id} ${version}`, read);
      return sendEventStream(
        reply,
        closing.signal,
        (signal) => eventStream({ topic, readState, pass, gone, gapMs, rests, signal, ...heart }),
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
