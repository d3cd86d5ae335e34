/** Server-sent events of one reader: what is there, then what comes, until it is over and everything was sent. */
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import type { StreamState } from '../../../domain/runs/stream-schema.ts';
import { isConnectionError } from '../../../store/connection/database.ts';
import type { StreamTopic } from '../../../store/runs/stream-feed.ts';

export interface Frame {
  /** What a reader sends as Last-Event-ID to go on behind this message; absent: it goes on where it did before. */
  id?: number;
  event: string;
  data: unknown;
}

/** Everything new up to `state`. It keeps its own place, so that the next call goes on behind what was taken. */
export type Pass<State extends StreamState = StreamState> = (state: State) => AsyncGenerator<Frame>;

export interface EventStreamOptions<State extends StreamState> {
  topic: StreamTopic;
  /** The state at that version of the topic or later; null when nothing is left of what the stream belongs to. */
  readState(version: number): Promise<State | null>;
  pass: Pass<State>;
  /** The end that is told when nothing is left. */
  gone: State['end'];
  /** Milliseconds from one pass to the next at least, so that a busy run is told in fewer, larger steps. */
  gapMs: number;
  /** So many times as long as the state took to be read lie between two reads at least. Default 0. */
  rests?: number;
  /** A comment is sent after so much silence, so that proxies keep the connection. Default 15,000. */
  heartbeatMs?: number;
  signal: AbortSignal;
}

const HEARTBEAT_MS = 15_000;
const DATABASE_PAUSE_MS = 1_000;

function encode({ id, event, data }: Frame): string {
  const head = id === undefined ? '' : `id: ${id}\n`;
  return `${head}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** The text of the stream, piece by piece; a database that is away for a while only delays it. */
export async function* eventStream<State extends StreamState>(
  options: EventStreamOptions<State>,
): AsyncGenerator<string> {
  const { topic, readState, pass, gone, gapMs, rests = 0, heartbeatMs = HEARTBEAT_MS, signal } = options;
  let lastSent = Date.now();
  yield 'retry: 1000\n\n';
  while (!signal.aborted) {
    const { version } = topic;
    let wait = heartbeatMs - (Date.now() - lastSent);
    try {
      const began = performance.now();
      const state = await readState(version);
      const tookMs = performance.now() - began;
      if (state !== null) {
        for await (const frame of pass(state)) {
          yield encode(frame);
          lastSent = Date.now();
          if (signal.aborted) return;
        }
      }
      if (state === null || state.over) {
        yield encode({ event: 'end', data: state === null ? gone : state.end });
        return;
      }
      await pause(Math.max(gapMs, rests * tookMs), signal);
      wait = heartbeatMs - (Date.now() - lastSent);
      await topic.changed(version, Math.max(0, wait), signal);
    } catch (error) {
      if (!isConnectionError(error)) throw error;
      await pause(DATABASE_PAUSE_MS, signal);
    }
    if (Date.now() - lastSent >= heartbeatMs && !signal.aborted) {
      yield ': still here\n\n';
      lastSent = Date.now();
    }
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal }).catch(() => undefined);
}

/**
 * Sends a stream to one client. It is pulled by the connection, so a slow reader holds one piece in memory and no more;
 * when the client goes away, or `closing` aborts, the stream ends at once and `leave` is called.
 */
export function sendEventStream(
  reply: FastifyReply,
  closing: AbortSignal,
  open: (signal: AbortSignal) => AsyncGenerator<string>,
  leave: () => void,
): FastifyReply {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  const stream = Readable.from(open(AbortSignal.any([gone.signal, closing])), { objectMode: false, highWaterMark: 1 });
  stream.once('close', () => {
    gone.abort();
    leave();
  });
  return (
    reply
      .header('content-type', 'text/event-stream; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('x-accel-buffering', 'no')
      // So that a server that closes need not wait for the connection to be idle for long.
      .header('connection', 'close')
      .send(stream)
  );
}
