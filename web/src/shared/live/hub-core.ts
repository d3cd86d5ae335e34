/** The one stream of a browser, for all of its pages. It knows nothing of workers: hub.ts runs it in one. */
import type { StreamHello, TopicChanged } from '../../../../domain/service/stream-schema.ts';
import { openStream, type StreamParts, StreamRefused } from './hub-stream.ts';
import { type Connection, type ConnectionState, type FromHub, GONE_AFTER_MS, type ToHub } from './protocol.ts';

/** Nothing for so long is stale, ms. */
export const STALE_AFTER_MS = 15_000;
/** Pauses before the stream is opened again, ms; the last one stays. */
const BACK_OFF_MS = [1_000, 2_000, 5_000];
/** Of a pause: so much of it is by chance, so that browsers do not come at once. */
const JITTER = 0.2;
/** Changes of topics within so long are one request, ms. */
const TOPICS_TOGETHER_MS = 30;

export interface HubParts extends StreamParts {
  random(): number;
}

export interface HubPage {
  send(message: FromHub): void;
}

export interface Hub {
  /** Takes a message of a page. A page that the hub does not know yet is new. */
  take(page: HubPage, message: ToHub): void;
  /** Called each second. */
  tick(): void;
}

/** Makes the hub; it opens the stream when the first page comes, and leaves it with the last. */
export function createHub(parts: HubParts): Hub {
  const pages = new Map<HubPage, { topics: Set<string>; seenAt: number }>();
  /** Topics of which the stream has told since it was opened, or went on. */
  const told = new Set<string>();
  let connection: Connection = { state: 'reconnecting', lastByteAt: parts.now() };
  let stream: ReturnType<typeof openStream> | null = null;
  let lastId: string | null = null;
  let failures = 0;
  let runs = false;
  let isSending = false;
  let wakeUp = () => {};

  const wanted = () => new Set([...pages.values()].flatMap(({ topics }) => [...topics]));
  const toAll = (message: FromHub) => {
    for (const page of pages.keys()) page.send(message);
  };
  const setState = (state: ConnectionState) => {
    if (connection.state === state) return;
    connection = { ...connection, state };
    toAll({ kind: 'connection', ...connection });
  };
  const onByte = () => {
    connection.lastByteAt = parts.now();
    setState('live');
  };
  const changed = (topic: string) => {
    told.add(topic);
    for (const [page, { topics }] of pages) if (topics.has(topic)) page.send({ kind: 'changed', topic });
  };
  const onMessage = (event: string, data: unknown, id: string | null) => {
    if (id !== null) lastId = id;
    if (event === 'hello') {
      failures = 0;
      // The stream goes on behind what it told before; of the others nothing was told.
      if (lastId !== null) for (const topic of (data as StreamHello).topics) if (!told.has(topic)) changed(topic);
      sendTopics();
    }
    if (event === 'changed') changed((data as TopicChanged).topic);
    if (event === 'resync') toAll({ kind: 'resync' });
  };
  const sendTopics = () => {
    if (isSending) return;
    isSending = true;
    parts.later(TOPICS_TOGETHER_MS, () => {
      isSending = false;
      const topics = wanted();
      for (const topic of told) if (!topics.has(topic)) told.delete(topic);
      stream?.setTopics([...topics]);
    });
  };

  const run = async () => {
    runs = true;
    while (pages.size > 0) {
      stream = openStream(parts, { topics: [...wanted()], lastId, onByte, onMessage });
      const error = await stream.ended;
      stream = null;
      if (pages.size === 0) break;
      if (connection.state === 'live') setState('reconnecting');
      if (error instanceof StreamRefused && error.status === 401) toAll({ kind: 'unknown' });
      const pause = BACK_OFF_MS[Math.min(failures, BACK_OFF_MS.length - 1)] ?? 0;
      failures += 1;
      await new Promise<void>((resolve) => {
        const timer = parts.later(pause * (1 - JITTER + 2 * JITTER * parts.random()), resolve);
        wakeUp = () => {
          timer.cancel();
          resolve();
        };
      });
    }
    lastId = null;
    told.clear();
    connection = { state: 'reconnecting', lastByteAt: parts.now() };
    runs = false;
  };
  const leave = (page: HubPage) => {
    if (!pages.delete(page)) return;
    sendTopics();
    if (pages.size > 0) return;
    stream?.close();
    wakeUp();
  };

  return {
    take: (page, message) => {
      if (message.kind === 'bye') {
        leave(page);
        return;
      }
      const known = pages.get(page);
      const topics = message.kind === 'topics' ? new Set(message.topics) : (known?.topics ?? new Set<string>());
      pages.set(page, { topics, seenAt: parts.now() });
      if (known === undefined) page.send({ kind: 'connection', ...connection });
      // Another page had it already: what this one has may be older than the last news.
      for (const topic of topics) {
        if (told.has(topic) && !known?.topics.has(topic)) page.send({ kind: 'changed', topic });
      }
      if (message.kind === 'topics') sendTopics();
      if (!runs) void run();
    },
    tick: () => {
      const now = parts.now();
      for (const [page, { seenAt }] of pages) if (now - seenAt > GONE_AFTER_MS) leave(page);
      if (pages.size > 0 && now - connection.lastByteAt > STALE_AFTER_MS) setState('stale');
      stream?.tick();
    },
  };
}
