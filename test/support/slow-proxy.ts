/** A proxy of TCP whose way to the client is narrow: all of its connections share it. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

interface SlowProxy {
  url: string;
  close(): Promise<void>;
}

/** One turn of all connections, ms. */
const TURN_MS = 50;
/** Bytes of one connection before it is another one's turn. */
const SLICE = 1_460;
/** Bytes that wait in the proxy before the server is told to wait. */
const HELD = 16_384;

interface Way {
  client: Socket;
  upstream: Socket;
  held: Buffer[];
  size: number;
}

/** Starts one on a port of its own, in front of `target`; `bytesPerSecond` go to clients, whatever the number of their connections. */
export async function startSlowProxy(target: string, bytesPerSecond: number): Promise<SlowProxy> {
  const { hostname, port } = new URL(target);
  const ways = new Set<Way>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const way: Way = { client, upstream, held: [], size: 0 };
    ways.add(way);
    client.pipe(upstream);
    upstream.on('data', (bytes) => {
      way.held.push(bytes);
      way.size += bytes.length;
      if (way.size > HELD) upstream.pause();
    });
    upstream.on('end', () => {
      if (way.size === 0) client.end();
    });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('error', () => to.destroy());
    }
    client.on('close', () => {
      ways.delete(way);
      upstream.destroy();
    });
  });
  let last = performance.now();
  const turn = setInterval(() => {
    // On a busy machine a turn comes late.
    const now = performance.now();
    let left = (bytesPerSecond * Math.max(TURN_MS, now - last)) / 1_000;
    last = now;
    while (left > 0) {
      const waiting = [...ways].filter(({ size }) => size > 0);
      if (waiting.length === 0) return;
      for (const way of waiting) {
        left -= send(way, Math.min(SLICE, Math.max(left, 1)));
        if (left <= 0) break;
        // Whose turn it is not now is the first the next time.
        ways.delete(way);
        ways.add(way);
      }
    }
  }, TURN_MS);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      clearInterval(turn);
      for (const { client } of ways) client.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns how many bytes went. */
function send(way: Way, most: number): number {
  const first = way.held.shift();
  if (first === undefined) return 0;
  const now = first.subarray(0, most);
  if (now.length < first.length) way.held.unshift(first.subarray(most));
  way.size -= now.length;
  way.client.write(now);
  if (way.size <= HELD) way.upstream.resume();
  if (way.size === 0 && way.upstream.readableEnded) way.client.end();
  return now.length;
}
