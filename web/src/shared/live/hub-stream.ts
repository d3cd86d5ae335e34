/** One connection of the hub: it reads messages until it breaks off, is silent for too long, or is closed. */
import type { StreamHello, StreamTopics } from '../../../../domain/service/stream-schema.ts';
import { eventParser } from './event-parser.ts';

/** An answer must begin within so long, ms. */
const OPEN_WITHIN_MS = 4_000;
/** Silence for so long is a cut, ms: two comments did not come. A proxy that holds a stream says nothing else. */
const SILENT_MS = 11_000;

export interface StreamParts {
  fetch: typeof fetch;
  /** Path of the installation, without slash at the end. */
  root: string;
  now(): number;
  later(ms: number, work: () => void): { cancel(): void };
}

export interface StreamOptions {
  topics: string[];
  /** Id of the last message of the stream before; null: there was none. */
  lastId: string | null;
  onByte(): void;
  onMessage(event: string, data: unknown, id: string | null): void;
}

/** The API said no. */
export class StreamRefused extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the API answered ${status}`);
    this.status = status;
  }
}

export interface OpenStream {
  /** Resolves when it is over, to what ended it; never rejects. */
  ended: Promise<unknown>;
  /** Sets all topics; the last call counts. */
  setTopics(topics: string[]): void;
  /** Called each second: ends what is silent. */
  tick(): void;
  close(): void;
}

/** Opens a connection. */
export function openStream(parts: StreamParts, options: StreamOptions): OpenStream {
  const over = new AbortController();
  const { signal } = over;
  let deadline = parts.now() + OPEN_WITHIN_MS;
  let id: string | null = null;
  let has = key(options.topics);
  let wants = options.topics;
  let isSending = false;

  const read = async () => {
    const query = new URLSearchParams({ topics: options.topics.join(',') });
    if (options.lastId !== null) query.set('last_event_id', options.lastId);
    const answer = await parts.fetch(`${parts.root}/api/v1/stream?${query}`, {
      headers: { accept: 'text/event-stream' },
      cache: 'no-store',
      credentials: 'same-origin',
      signal,
    });
    if (!answer.ok || answer.body === null) throw new StreamRefused(answer.status);
    const parse = eventParser();
    const decoder = new TextDecoder();
    const reader = answer.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      deadline = parts.now() + SILENT_MS;
      options.onByte();
      for (const message of parse(decoder.decode(value, { stream: true }))) {
        const data: unknown = JSON.parse(message.data);
        if (message.event === 'hello') id = (data as StreamHello).id;
        options.onMessage(message.event, data, message.id);
        void send();
      }
    }
  };
  /** One request at a time: the last one sent is the last one heard. */
  const send = async () => {
    if (id === null || isSending || signal.aborted || key(wants) === has) return;
    isSending = true;
    const topics = wants;
    try {
      const answer = await parts.fetch(`${parts.root}/api/v1/stream/${id}/topics`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ topics }),
        credentials: 'same-origin',
        signal,
      });
      // The stream is in another process, or over: a new one has the topics that are wanted.
      if (!answer.ok) throw new StreamRefused(answer.status);
      (await answer.json()) as StreamTopics;
      has = key(topics);
    } catch {
      over.abort();
    } finally {
      isSending = false;
    }
    void send();
  };

  return {
    ended: read().then(
      () => over.abort(),
      (error: unknown) => {
        over.abort();
        return error;
      },
    ),
    setTopics: (topics) => {
      wants = topics;
      void send();
    },
    tick: () => {
      if (parts.now() > deadline) over.abort();
    },
    close: () => over.abort(),
  };
}

function key(topics: readonly string[]): string {
  return [...topics].sort().join('\n');
}
