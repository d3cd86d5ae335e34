import { type AddressInfo, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import fastify from 'fastify';
import { eventStream, type Pass, sendEventStream } from '../../../api/server/streaming/event-stream.ts';
import { createSharedReads } from '../../../api/server/streaming/shared-reads.ts';
import type { StreamState } from '../../../domain/runs/stream-schema.ts';
import type { StreamTopic } from '../../../store/runs/stream-feed.ts';

const state: StreamState = { lastEvent: 0, lastChunk: 0, over: false, deleted: false, end: { name: 's' } };
const gone = {
  name: 's',
  id: 'id',
  status: 'complete',
  succeeded: 'none',
  message: '',
  reason: null,
  deleted: true,
} as const;
const nothing: Pass = async function* () {};
/** A topic on which nothing ever happens. */
const quiet = (): StreamTopic => ({
  version: 0,
  changed: (_version, milliseconds, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve(false);
      const timer = setTimeout(() => resolve(false), milliseconds);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve(false);
      });
    }),
  leave: () => undefined,
});

async function collect(stream: AsyncGenerator<string>, enough: (pieces: string[]) => boolean): Promise<string[]> {
  const pieces: string[] = [];
  for await (const piece of stream) {
    pieces.push(piece);
    if (enough(pieces)) break;
  }
  return pieces;
}

describe('the text of a stream', () => {
  const options = { topic: quiet(), pass: nothing, gone, gapMs: 0, signal: new AbortController().signal };

  test('is kept alive by comments', async () => {
    const stream = eventStream({ ...options, readState: async () => state, heartbeatMs: 20 });
    const pieces = await collect(stream, (some) => some.length === 4);
    expect(pieces).toEqual(['retry: 1000\n\n', ...Array(3).fill(': still here\n\n')]);
  });

  test('says that a session is gone', async () => {
    const pieces = await collect(eventStream({ ...options, readState: async () => null }), () => false);
    expect(pieces.at(-1)).toContain('event: end\ndata: {"name":"s"');
    expect(pieces.at(-1)).toContain('"deleted":true');
  });

  test('waits for a database that is away', async () => {
    let reads = 0;
    const readState = async () => {
      reads += 1;
      if (reads === 1) throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
      return { ...state, over: true };
    };
    const pieces = await collect(eventStream({ ...options, readState }), () => false);
    expect([reads, pieces.at(-1)]).toEqual([2, expect.stringContaining('event: end')]);
  });

  test('breaks off at any other error', async () => {
    const readState = async () => {
      throw new Error('wrong');
    };
    await expect(collect(eventStream({ ...options, readState }), () => false)).rejects.toThrow('wrong');
  });

  test('rests longer between reads that take long', async () => {
    const times: number[] = [];
    const readState = async () => {
      times.push(performance.now());
      await delay(20);
      return { ...state, over: times.length === 3 };
    };
    await collect(eventStream({ ...options, readState, rests: 4, heartbeatMs: 0 }), () => false);
    const [first = 0, second = 0, third = 0] = times;
    expect(Math.min(second - first, third - second)).toBeGreaterThan(80);
  });

  test('puts line ends of the data on one line', async () => {
    const pass: Pass = async function* () {
      yield { id: 3, event: 'log', data: 'a\n\nevent: end\r\u2028' };
    };
    const pieces = await collect(
      eventStream({ ...options, pass, readState: async () => state }),
      (some) => some.length === 2,
    );
    expect(pieces[1]).toBe('id: 3\nevent: log\ndata: "a\\n\\nevent: end\\r\u2028"\n\n');
  });
});

describe('one client', () => {
  let close: (() => Promise<void>) | null = null;
  afterEach(async () => {
    await close?.();
    close = null;
  });

  /** A server with one stream; answers its port and what happened to the stream. */
  async function serve(open: (signal: AbortSignal) => AsyncGenerator<string>) {
    const left = Promise.withResolvers<void>();
    const app = fastify({ forceCloseConnections: true });
    app.get('/', (_request, reply) => sendEventStream(reply, new AbortController().signal, open, () => left.resolve()));
    await app.listen({ port: 0, host: '127.0.0.1' });
    close = () => app.close();
    return { port: (app.server.address() as AddressInfo).port, left: left.promise };
  }

  test('that reads slowly holds the stream back, and one that leaves ends it', async () => {
    /** What the buffers of both sockets may hold, bytes. */
    const most = 32 * 2 ** 20;
    let [made, taken] = [0, 0];
    let finished = false;
    const piece = `data: ${'x'.repeat(64 * 1024)}\n\n`;
    const { port, left } = await serve(async function* (signal) {
      try {
        // A stream that nothing holds back is ahead at once, and ends here.
        while (!signal.aborted && made - taken < most) {
          made += piece.length;
          yield piece;
        }
      } finally {
        finished = true;
      }
    });
    const socket = connect(port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await new Promise<void>((resolve) => {
      socket.on('data', (chunk) => {
        taken += chunk.length;
        if (taken > 2 * most || finished) resolve();
        // What makes the pieces has many turns before the next one is taken.
        socket.pause();
        setImmediate(() => socket.resume());
      });
      socket.on('end', resolve);
    });
    expect([finished, made - taken < most]).toEqual([false, true]);
    socket.destroy();
    await left;
    expect(finished).toBe(true);
  });

  test('that leaves while nothing happens frees the stream at once', async () => {
    const { port, left } = await serve(async function* (signal) {
      yield* eventStream({ topic: quiet(), readState: async () => state, pass: nothing, gone, gapMs: 0, signal });
    });
    const socket = connect(port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    socket.destroy();
    await left;
  });
});

test('reads at the same time are one read, later ones are their own', async () => {
  const shared = createSharedReads();
  let reads = 0;
  const load = async () => ++reads;
  expect(await Promise.all([shared.read('a', load), shared.read('a', load), shared.read('b', load)])).toEqual([
    1, 1, 2,
  ]);
  expect(await shared.read('a', load)).toBe(3);
  const failing = () => shared.read('a', async () => Promise.reject(new Error('no')));
  await expect(Promise.allSettled([failing(), failing()])).resolves.toMatchObject([
    { status: 'rejected' },
    { status: 'rejected' },
  ]);
  expect(await shared.read('a', load)).toBe(4);
});
