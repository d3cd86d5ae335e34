/** Streams of topics: one of each browser, which says what changed and is told what to say. */
import { randomBytes } from 'node:crypto';
import type { Caller } from '../../../domain/access/roles.ts';
import type { StreamTopics, TopicChanged } from '../../../domain/service/stream-schema.ts';
import { changedBehind, markOf, markText, topicOf } from '../../../domain/service/topics.ts';
import { type TopicWatches, type TopicWatchOptions, type Watch, watchTopics } from './topic-watches.ts';

/** One stream of one browser. */
export interface TopicReader {
  /** Sets all topics from now on. */
  setTopics(names: readonly string[]): StreamTopics;
  /** The text of the stream, piece by piece. */
  messages(signal: AbortSignal): AsyncGenerator<string>;
  leave(): void;
}

/** Who reads. */
interface TopicAsker {
  /** As it is stored with writes; null where the caller is not known. */
  actor: string | null;
  /** Whose role counts; null: who asks is not asked for. */
  caller: Caller | null;
}

export interface TopicBook {
  /** Returns which of the topics there are for who asks. */
  describe(asker: TopicAsker, names: readonly string[]): StreamTopics;
  /**
   * Begins a stream.
   * @param after id of the last message that the reader had; null: it has had none
   */
  open(asker: TopicAsker, names: readonly string[], after: string | null): TopicReader;
  /** Returns an open stream of who asks. */
  find(id: string, asker: TopicAsker): TopicReader | undefined;
  close(): void;
}

/** A comment comes after so much silence, ms. */
const HEARTBEAT_MS = 5_000;

interface TopicBookOptions extends TopicWatchOptions {
  /** Returns whether what topics are of can be read. */
  answers(): Promise<boolean>;
  heartbeatMs?: number;
}

/** Makes the book of this process. */
export function createTopicBook(options: TopicBookOptions): TopicBook {
  const watches = watchTopics(options);
  const open = new Map<string, { owner: string | null; reader: TopicReader }>();
  return {
    describe: ({ caller }, names) => ({
      topics: names.filter((name) => watches.has(name, caller)),
      left_out: names.filter((name) => !watches.has(name, caller)),
    }),
    open: ({ actor, caller }, names, after) => {
      const id = randomBytes(16).toString('hex');
      const { answers, heartbeatMs = HEARTBEAT_MS } = options;
      const reader = openReader(watches, caller, id, { answers, heartbeatMs }, () => open.delete(id));
      reader.setTopics(names);
      if (after !== null) reader.resume(after);
      open.set(id, { owner: actor, reader });
      return reader;
    },
    find: (id, { actor }) => {
      const found = open.get(id);
      return found?.owner === actor ? found.reader : undefined;
    },
    close: () => watches.close(),
  };
}

/** A reader holds names of topics alone, whatever happens meanwhile: a slow one costs nothing. */
function openReader(
  watches: TopicWatches,
  caller: Caller | null,
  id: string,
  { answers, heartbeatMs }: Pick<TopicBookOptions, 'answers'> & { heartbeatMs: number },
  left: () => void,
) {
  const mine = new Map<string, Watch>();
  const pending = new Set<string>();
  let leftOut: string[] = [];
  let resync = false;
  let wake = () => {};

  const tell = (name: string) => {
    pending.add(name);
    wake();
  };
  const drop = (name: string, watch: Watch) => {
    mine.delete(name);
    pending.delete(name);
    watch.leave(tell);
  };
  const topics = (): StreamTopics => ({ topics: [...mine.keys()], left_out: leftOut });
  /** Returns true for news, false when nothing came for so long. */
  const news = () =>
    new Promise<boolean>((resolve) => {
      const end = (isNews: boolean) => {
        clearTimeout(timer);
        wake = () => {};
        resolve(isNews);
      };
      const timer = setTimeout(() => end(false), heartbeatMs);
      wake = () => end(true);
    });

  return {
    setTopics: (wanted: readonly string[]) => {
      const all = new Set(wanted);
      for (const [name, watch] of mine) if (!all.has(name)) drop(name, watch);
      leftOut = [];
      for (const name of all) {
        if (mine.has(name)) continue;
        const watch = watches.watch(name, caller);
        if (watch === null) {
          leftOut.push(name);
          continue;
        }
        mine.set(name, watch);
        watch.join(tell);
      }
      return topics();
    },
    /** Goes on behind the message `after`, or has everything read again where that cannot be said. */
    resume: (after: string) => {
      const mark = markOf(after);
      const changed = mark && changedBehind(mark, watches.process, [...mine.keys()], watches.known);
      pending.clear();
      for (const watch of mine.values()) watch.excuse(tell);
      if (changed === null) resync = true;
      else for (const name of changed) pending.add(name);
    },
    messages: async function* (signal: AbortSignal): AsyncGenerator<string> {
      signal.addEventListener('abort', () => wake(), { once: true });
      yield `retry: 1000\n\n${frame('hello', { id, ...topics() })}`;
      while (!signal.aborted) {
        const count = watches.count();
        const told: [string, object][] = resync ? [['resync', {}]] : [];
        for (const name of pending) told.push(...changedOf(name, mine.get(name)));
        pending.clear();
        resync = false;
        // The last message alone has an id: a reader that breaks off before it gets all of them again.
        for (const [index, [event, data]] of told.entries()) {
          const isLast = index === told.length - 1;
          yield frame(event, data, isLast ? markText({ process: watches.process, count }) : undefined);
        }
        if (pending.size > 0 || signal.aborted) continue;
        if (await news()) continue;
        // Whether something has changed is unknown: a comment would say that nothing has.
        if (!(await answers())) return;
        yield ': still here\n\n';
      }
    },
    leave: () => {
      for (const [name, watch] of mine) drop(name, watch);
      left();
    },
  };
}

function changedOf(name: string, watch: Watch | undefined): [string, TopicChanged][] {
  if (watch === undefined || watch.revision === null) return [];
  return [['changed', { topic: name, key: topicOf(name).key, revision: watch.revision }]];
}

function frame(event: string, data: object, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
