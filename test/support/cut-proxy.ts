/** A proxy of TCP that cuts and holds connections, as networks do. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface CutProxy {
  url: string;
  /** Streams of topics that are open through it. */
  openStreams(): number;
  /** Ends all connections and takes no new ones. */
  cut(): void;
  /** Lets nothing through, and says nothing of it. */
  stall(): void;
  /** Lets everything through again. */
  restore(): void;
  close(): Promise<void>;
}

/** Starts one on a port of its own, in front of `target`. */
export async function startCutProxy(target: string): Promise<CutProxy> {
  const { hostname, port } = new URL(target);
  const pairs = new Set<[Socket, Socket]>();
  const streams = new Set<[Socket, Socket]>();
  let state: 'open' | 'cut' | 'stalled' = 'open';
  const server = createServer((client) => {
    if (state === 'cut') {
      client.destroy();
      return;
    }
    const upstream = connect(Number(port), hostname);
    const pair: [Socket, Socket] = [client, upstream];
    pairs.add(pair);
    for (const [from, to] of [pair, [upstream, client]] as const) {
      from.on('data', (bytes) => {
        if (from === client && bytes.includes('GET /api/v1/stream?')) streams.add(pair);
        if (state === 'open') to.write(bytes);
      });
      from.on('error', () => to.destroy());
      from.on('close', () => {
        pairs.delete(pair);
        streams.delete(pair);
        to.destroy();
      });
    }
  });
  const endAll = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    openStreams: () => streams.size,
    cut: () => {
      state = 'cut';
      endAll();
    },
    stall: () => {
      state = 'stalled';
    },
    restore: () => {
      // What was held has lost bytes: such a connection is of no use.
      if (state === 'stalled') endAll();
      state = 'open';
    },
    close: async () => {
      endAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
