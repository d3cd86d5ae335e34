/** The hub's rules, with a clock and a network of the test's. */
import { describe, expect, test } from '@jest/globals';
import { createHub, type HubPage } from '../../web/src/shared/live/hub-core.ts';
import type { FromHub } from '../../web/src/shared/live/protocol.ts';

/** One request for a stream, as the server sees it. */
interface Opened {
  topics: string[];
  lastId: string | null;
  isOver: boolean;
  say(event: string, data: object, id?: string): Promise<void>;
  comment(): Promise<void>;
  cut(): Promise<void>;
}

/** A hub with its surroundings: time passes when the test says so. */
function bench() {
  let now = 1_000_000;
  let timers: { at: number; work: () => void }[] = [];
  const opened: Opened[] = [];
  const posted: { id: string; topics: string[] }[] = [];
  let answers: 'stream' | 'nothing' | 401 = 'stream';
  let takesTopics = true;

  const fetch = async (input: string, init: RequestInit): Promise<Response> => {
    const url = new URL(input, 'http://test');
    if (init.method === 'POST') {
      const { topics } = JSON.parse(String(init.body));
      if (!takesTopics) return new Response('{}', { status: 404 });
      posted.push({ id: url.pathname.split('/').at(-2) ?? '', topics });
      return Response.json({ topics, left_out: [] });
    }
    if (answers === 401) return new Response('{}', { status: 401 });
    if (answers === 'nothing') {
      return new Promise((_, reject) => init.signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    }
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (given) => {
        controller = given;
      },
    });
    const write = async (text: string) => {
      controller?.enqueue(new TextEncoder().encode(text));
      await settle();
    };
    const stream: Opened = {
      topics: (url.searchParams.get('topics') ?? '').split(',').filter((topic) => topic !== ''),
      lastId: url.searchParams.get('last_event_id'),
      isOver: false,
      say: (event, data, id) =>
        write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
      comment: () => write(': still here\n\n'),
      cut: async () => {
        controller?.close();
        await settle();
      },
    };
    init.signal?.addEventListener('abort', () => {
      stream.isOver = true;
      try {
        controller?.error(new Error('aborted'));
      } catch {
        // It had ended.
      }
    });
    opened.push(stream);
    return new Response(body);
  };
  const hub = createHub({
    fetch: fetch as typeof globalThis.fetch,
    root: '/fleet',
    now: () => now,
    random: () => 0.5,
    later: (ms, work) => {
      const timer = { at: now + ms, work };
      timers.push(timer);
      return {
        cancel: () => {
          timers = timers.filter((one) => one !== timer);
        },
      };
    },
  });
  /** Lets time pass, in steps as the worker's clock has them. */
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 100) {
      now += Math.min(100, left);
      const due = timers.filter(({ at }) => at <= now);
      timers = timers.filter(({ at }) => at > now);
      for (const { work } of due) work();
      if (now % 1_000 === 0) hub.tick();
      await settle();
    }
  };
  const newPage = async (...topics: string[]) => {
    const heard: FromHub[] = [];
    const page: HubPage = { send: (message) => void heard.push(message) };
    const want = async (...wanted: string[]) => {
      hub.take(page, { kind: 'topics', topics: wanted });
      await pass(100);
    };
    await want(...topics);
    const states = () => heard.flatMap((message) => (message.kind === 'connection' ? [message.state] : []));
    const changed = () => heard.flatMap((message) => (message.kind === 'changed' ? [message.topic] : []));
    return { page, heard, want, states, changed };
  };
  const hello = (stream: Opened | undefined, id = 'one') =>
    stream?.say('hello', { id, topics: stream.topics, left_out: [] });
  return {
    hub,
    opened,
    posted,
    pass,
    newPage,
    hello,
    last: () => opened.at(-1),
    set: (given: typeof answers) => {
      answers = given;
    },
    refuseTopics: () => {
      takesTopics = false;
    },
  };
}

/** Lets all that waits for an answer go on. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const changedMessage = (topic: string) => ({ topic, key: null, revision: 'r' });

describe('pages of one browser', () => {
  test('share one stream, whose topics are those of all', async () => {
    const { newPage, opened, posted, hello, last } = bench();
    const first = await newPage('sessions');
    await hello(last());
    const others = [await newPage('fleet'), ...(await Promise.all(Array.from({ length: 6 }, () => newPage('fleet'))))];
    expect(opened.map(({ topics }) => topics)).toEqual([['sessions']]);
    expect(posted).toEqual([{ id: 'one', topics: ['sessions', 'fleet'] }]);
    await last()?.say('changed', changedMessage('fleet'), 'a-1');
    expect(first.changed()).toEqual([]);
    for (const page of others) expect(page.changed()).toEqual(['fleet']);
    expect(first.states()).toEqual(['reconnecting', 'live']);
  });

  test('hear at once of a topic that another page has', async () => {
    const { newPage, hello, last } = bench();
    await newPage('sessions');
    await hello(last());
    await last()?.say('changed', changedMessage('sessions'), 'a-1');
    const late = await newPage('sessions');
    expect(late.changed()).toEqual(['sessions']);
    await late.want('sessions');
    expect(late.changed()).toEqual(['sessions']);
  });

  test('take their topics with them, and the last one the stream', async () => {
    const { hub, newPage, posted, hello, last, opened, pass } = bench();
    const [one, other] = [await newPage('a'), await newPage('b')];
    await hello(last());
    await pass(100);
    hub.take(one.page, { kind: 'bye' });
    await pass(100);
    expect(posted.at(-1)?.topics).toEqual(['b']);
    hub.take(other.page, { kind: 'bye' });
    await pass(20_000);
    expect([opened.length, last()?.isOver]).toEqual([1, true]);
    await newPage('c');
    expect([opened.length, last()?.topics, last()?.lastId]).toEqual([2, ['c'], null]);
  });

  test('that say nothing for long are gone', async () => {
    const { hub, newPage, posted, hello, last, pass } = bench();
    const [one] = [await newPage('a'), await newPage('b')];
    await hello(last());
    for (let seconds = 0; seconds < 180; seconds += 5) {
      await last()?.comment();
      hub.take(one.page, { kind: 'alive' });
      await pass(5_000);
    }
    expect(posted.at(-1)?.topics).toEqual(['a']);
  });
});

describe('a cut', () => {
  test('is mended after 1, 2 and then 5 s, and the stream goes on behind its last message', async () => {
    const { newPage, hello, last, opened, pass, set } = bench();
    const page = await newPage('sessions');
    await hello(last());
    await last()?.say('changed', changedMessage('sessions'), 'a-7');
    set(401);
    await last()?.cut();
    expect(page.states().at(-1)).toBe('reconnecting');
    await pass(900);
    expect(opened).toHaveLength(1);
    // The first attempt is refused at 1 s, the second comes 2 s later.
    await pass(200);
    set('stream');
    await pass(1_700);
    expect(opened).toHaveLength(1);
    await pass(400);
    expect([opened.length, last()?.lastId]).toEqual([2, 'a-7']);
    await hello(last());
    expect(page.states().at(-1)).toBe('live');
    expect(page.heard).toContainEqual({ kind: 'unknown' });
  });

  test('makes the page stale 15 s after the last byte, and no sooner', async () => {
    const { newPage, hello, last, pass, set } = bench();
    const page = await newPage('sessions');
    await hello(last());
    set('nothing');
    await last()?.cut();
    await pass(14_900);
    expect(page.states()).not.toContain('stale');
    await pass(1_100);
    expect(page.states().at(-1)).toBe('stale');
  });

  test('is silence too: a stream that is held somewhere is opened again', async () => {
    const { newPage, hello, last, opened, pass } = bench();
    const page = await newPage('sessions');
    await hello(last());
    await pass(10_000);
    await last()?.comment();
    await pass(10_000);
    expect(opened).toHaveLength(1);
    await pass(3_500);
    expect([opened.length, opened[0]?.isOver]).toEqual([2, true]);
    await hello(last());
    expect(page.states()).not.toContain('stale');
  });

  test('that lasts is over within 10 s of the return', async () => {
    const { newPage, hello, last, opened, pass, set } = bench();
    const page = await newPage('sessions');
    await hello(last());
    set('nothing');
    await last()?.cut();
    await pass(60_000);
    set('stream');
    const before = opened.length;
    await pass(9_900);
    expect(opened.length).toBe(before + 1);
    await hello(last());
    expect(page.states().at(-1)).toBe('live');
  });

  test('tells of topics that were new meanwhile, and of all after a resync', async () => {
    const { newPage, hello, last, pass } = bench();
    const page = await newPage('a');
    await hello(last());
    await last()?.say('changed', changedMessage('a'), 'a-1');
    await last()?.cut();
    await page.want('a', 'b');
    await pass(1_500);
    expect(last()?.topics).toEqual(['a', 'b']);
    await hello(last());
    expect(page.changed()).toEqual(['a', 'b']);
    await last()?.say('resync', {});
    expect(page.heard.at(-1)).toEqual({ kind: 'resync' });
  });

  test('comes of a stream that another process has', async () => {
    const { newPage, hello, last, opened, pass, refuseTopics } = bench();
    const page = await newPage('a');
    await hello(last());
    refuseTopics();
    await page.want('a', 'b');
    await pass(1_500);
    expect([opened.length, last()?.topics]).toEqual([2, ['a', 'b']]);
  });
});
