import { setTimeout as pause } from 'node:timers/promises';
import { CliFailure, EXIT } from '../failure.ts';
import type { ApiClient, Query } from './api-client.ts';
import { type StreamMessage, StreamParser } from './stream-parser.ts';

/** Pauses before coming again (ms): soon at first, then every five seconds for as long as it takes. */
const PAUSES = [200, 500, 1000, 2000, 5000];
/** A connection without a byte for so long (ms) counts as lost: the server sends a comment much more often. */
const SILENCE = 60_000;

export interface StreamOptions {
  query?: Query;
  signal: AbortSignal;
  /** Told once when the connection is lost, with the reason. */
  onLost?: (failure: CliFailure) => void;
  /** Told when it is there again. */
  onBack?: () => void;
  /** Takes the data of the `end` message. */
  onEnd?: (data: string) => void;
}

/** What is known of a stream from one connection to the next. */
interface Position {
  lastId: string;
  /** Connections lost since the last one that worked. */
  losses: number;
  /** Pause the server asked for (ms). */
  retry: number | undefined;
}

const temporary = ({ code, exit }: CliFailure): boolean =>
  exit === EXIT.unreachable || exit === EXIT.timedOut || code.startsWith('http_5') || code === 'internal';

/**
 * Messages of an event stream until the server's `end` message, which is not yielded. A lost connection is taken up again
 * after the last message seen (`Last-Event-ID`), for as long as it takes. A refusal (404 ...) is thrown.
 */
export async function* eventStream(
  api: ApiClient,
  path: string,
  options: StreamOptions,
): AsyncGenerator<StreamMessage> {
  const position: Position = { lastId: '', losses: 0, retry: undefined };
  while (!options.signal.aborted) {
    let failure = new CliFailure('unreachable', 'the connection was closed', EXIT.unreachable);
    try {
      for await (const message of connection(api, path, position, options)) {
        if (message.event === 'end') return options.onEnd?.(message.data);
        yield message;
      }
    } catch (error) {
      if (options.signal.aborted) return;
      if (!(error instanceof CliFailure) || !temporary(error)) throw error;
      failure = error;
    }
    if (options.signal.aborted) return;
    if (position.losses === 0) options.onLost?.(failure);
    position.losses += 1;
    const wait = position.retry ?? PAUSES[Math.min(position.losses, PAUSES.length) - 1];
    await pause(wait, undefined, { signal: options.signal }).catch(() => undefined);
  }
}

/** Messages of one connection; notes in `position` how far it came. */
async function* connection(
  api: ApiClient,
  path: string,
  position: Position,
  options: StreamOptions,
): AsyncGenerator<StreamMessage> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), SILENCE);
  try {
    const response = await api.open(
      { method: 'GET', path, ...(options.query ? { query: options.query } : {}) },
      {
        headers: {
          accept: 'text/event-stream',
          ...(position.lastId === '' ? {} : { 'last-event-id': position.lastId }),
        },
        signal: AbortSignal.any([options.signal, silence.signal]),
      },
    );
    if (position.losses > 0) options.onBack?.();
    position.losses = 0;
    const parser = new StreamParser(position.lastId);
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      timer.refresh();
      for (const message of parser.push(decoder.decode(chunk, { stream: true }))) {
        position.lastId = message.id;
        yield message;
      }
      position.retry = parser.retry ?? position.retry;
    }
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    throw new CliFailure('unreachable', 'the connection was lost', EXIT.unreachable);
  } finally {
    clearTimeout(timer);
  }
}
