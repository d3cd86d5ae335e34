/** Watches topics in this process: each once, however many readers it has. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { type Caller, type Role, refusal } from '../../../domain/access/roles.ts';
import { topicOf, type Watched } from '../../../domain/service/topics.ts';
import { isWrittenUuid } from '../../../domain/text/uuid.ts';
import { isConnectionError } from '../../../store/connection/database.ts';
import type { StreamFeed, StreamTopic } from '../../../store/runs/stream-feed.ts';

/** What a lane offers as a topic. */
export interface TopicSource {
  /** Says when it may have changed. */
  join(): StreamTopic;
  /** Returns a text that differs whenever what the topic is of has changed. */
  read(): Promise<string>;
  /** From one look to the next at least, ms. */
  gapMs: number;
  /** Weakest role that may be told. Absent: `reader`. */
  least?: Exclude<Role, 'node'>;
  /** A look is made after so long that nothing asked for, ms: of what changes without an announcement. Default: a minute. */
  lookMs?: number;
}

/** Returns the source of a topic; null where there is none of that key. */
export type OpenTopic = (key: string | null) => TopicSource | null;

/** From one look at a topic of many to the next, and from one at a single record, ms. */
const [LIST_GAP_MS, RECORD_GAP_MS] = [1_000, 250];

/**
 * Returns the topic of a whole list, which has no key. It is looked at every 2 s, and whenever any run or session moves.
 * @param read returns a text that differs whenever the list may differ
 */
export function topicOfList(
  streams: Pick<StreamFeed, 'joinAny'>,
  read: TopicSource['read'],
  { gapMs = LIST_GAP_MS, ...rest }: Partial<Pick<TopicSource, 'gapMs' | 'least'>> = {},
): OpenTopic {
  return (key) => (key === null ? { join: () => streams.joinAny(), read, gapMs, ...rest } : null);
}

/** Returns the topic of a record whose id is a UUID. `streamOf`: the stream that tells of it first. */
export function topicOfRecord(
  streams: Pick<StreamFeed, 'join'>,
  read: (id: string) => Promise<string>,
  streamOf: (id: string) => string = (id) => id,
): OpenTopic {
  return (key) =>
    key !== null && isWrittenUuid(key)
      ? { join: () => streams.join(streamOf(key)), read: () => read(key), gapMs: RECORD_GAP_MS }
      : null;
}

/** Tells a reader of a topic that has changed. */
type Tell = (topic: string) => void;

/** One topic while it has readers, and a while longer. */
export interface Watch extends Watched {
  /** What the last look saw; null before the first. */
  revision: string | null;
  /** Adds a reader, and tells it at once; a watch that rests looks first. */
  join(tell: Tell): void;
  /** The reader has what was seen before: it is told of what changed alone. */
  excuse(tell: Tell): void;
  leave(tell: Tell): void;
}

/** A watch with what makes it go on. */
interface Running extends Watch {
  readers: Set<Tell>;
  /** Those of them that the next look tells, whether it sees a change or not. */
  owed: Set<Tell>;
  /** Whether what was seen may be old, for want of readers. */
  isResting: boolean;
  /** Since when it has no reader, ms; null while it has some. */
  idleSince: number | null;
  /** Ends the rest of a watch that has no reader. */
  wake(): void;
  stop: AbortController;
}

export interface TopicWatches {
  /** Tells counts of this process from those of another. */
  readonly process: string;
  /** Changes so far. */
  count(): number;
  /** Returns whether there is such a topic for the caller; null: who asks is not asked for. */
  has(name: string, caller: Caller | null): boolean;
  /** Returns the watch of a topic, begun now if need be; null where there is no such topic for the caller, and where too many have readers. */
  watch(name: string, caller: Caller | null): Watch | null;
  /** Returns what is known of a topic that was looked at; undefined for another. */
  known(name: string): Watched | undefined;
  close(): void;
}

export interface TopicWatchOptions {
  /** Topics by their word. Read when a topic is opened: lanes fill it while routes are declared. */
  sources: Readonly<Record<string, OpenTopic>>;
  log: Pick<FastifyBaseLogger, 'warn'>;
  /** The watch of a topic without readers is kept for so long, so that a reader that comes again goes on, ms. It looks at nothing meanwhile. */
  lingerMs?: number;
  /** Topics that are watched at most. Where there are more, those without readers go; then new ones are left out. */
  most?: number;
}

const LINGER_MS = 60_000;
/** Time between looks that no announcement asks for, ms: a lost announcement is made good by the next look. */
const LOOK_ANYWAY_MS = 60_000;
const FAILED_PAUSE_MS = 1_000;
const MOST = 5_000;

/** Begins to watch what is asked for. */
export function watchTopics({ sources, log, lingerMs = LINGER_MS, most = MOST }: TopicWatchOptions): TopicWatches {
  const watches = new Map<string, Running>();
  let count = 0;

  const sourceOf = (name: string, caller: Caller | null): TopicSource | null => {
    const { word, key } = topicOf(name);
    const source = (Object.hasOwn(sources, word) ? sources[word]?.(key) : null) ?? null;
    if (source === null || caller === null) return source;
    return refusal({ least: source.least ?? 'reader' }, caller, undefined) === null ? source : null;
  };
  const look = async (name: string, watch: Running, source: TopicSource) => {
    const revision = await source.read();
    const isChanged = revision !== watch.revision;
    if (isChanged) {
      count += 1;
      if (watch.revision === null) watch.since = count;
      watch.changed = count;
      watch.revision = revision;
    }
    watch.isResting = false;
    for (const tell of isChanged ? watch.readers : watch.owed) tell(name);
    watch.owed.clear();
  };
  const follow = async (name: string, watch: Running, source: TopicSource) => {
    const hints = source.join();
    const { signal } = watch.stop;
    while (!signal.aborted) {
      if (watch.readers.size === 0) {
        await untilRead(watch);
        continue;
      }
      const { version } = hints;
      try {
        await look(name, watch, source);
        await pause(source.gapMs, signal);
        await hints.changed(version, source.lookMs ?? LOOK_ANYWAY_MS, signal);
      } catch (error) {
        if (!isConnectionError(error)) log.warn({ err: error, topic: name }, 'a topic cannot be read');
        await pause(FAILED_PAUSE_MS, signal);
      }
    }
    hints.leave();
  };
  const end = (name: string, watch: Running) => {
    watch.stop.abort();
    watches.delete(name);
  };
  const sweep = setInterval(() => {
    const before = performance.now() - lingerMs;
    for (const [name, watch] of watches) if (watch.idleSince !== null && watch.idleSince <= before) end(name, watch);
  }, lingerMs / 4);
  sweep.unref();
  /** Returns whether one more can be watched. */
  const makeRoom = () => {
    if (watches.size < most) return true;
    for (const [name, watch] of watches) {
      if (watch.idleSince === null) continue;
      end(name, watch);
      return true;
    }
    return false;
  };

  return {
    process: randomBytes(8).toString('hex'),
    count: () => count,
    has: (name, caller) => sourceOf(name, caller) !== null,
    watch: (name, caller) => {
      const source = sourceOf(name, caller);
      if (source === null) return null;
      const running = watches.get(name);
      if (running !== undefined) return running;
      if (!makeRoom()) return null;
      const watch = beginWatch(name);
      watches.set(name, watch);
      void follow(name, watch, source);
      return watch;
    },
    known: (name) => {
      const watch = watches.get(name);
      return watch === undefined || watch.revision === null ? undefined : watch;
    },
    close: () => {
      clearInterval(sweep);
      for (const watch of watches.values()) watch.stop.abort();
      watches.clear();
    },
  };
}

function beginWatch(name: string): Running {
  const watch: Running = {
    ...{ since: 0, changed: 0, revision: null, isResting: true, idleSince: null },
    readers: new Set(),
    owed: new Set(),
    stop: new AbortController(),
    wake: () => {},
    join: (tell) => {
      watch.readers.add(tell);
      watch.idleSince = null;
      watch.wake();
      // What the reader has may be older than its interest.
      if (watch.isResting) watch.owed.add(tell);
      else tell(name);
    },
    excuse: (tell) => watch.owed.delete(tell),
    leave: (tell) => {
      watch.readers.delete(tell);
      watch.owed.delete(tell);
      if (watch.readers.size === 0) watch.idleSince = performance.now();
    },
  };
  return watch;
}

/** Resolves when the watch has a reader again, or is stopped. */
async function untilRead(watch: Running): Promise<void> {
  const { signal } = watch.stop;
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  watch.isResting = true;
  signal.addEventListener('abort', end);
  watch.wake = end;
  await promise;
  signal.removeEventListener('abort', end);
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal }).catch(() => undefined);
}
