import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '../free-port.ts';

/** A way to a server that can be cut and mended, as a network or a restart does it. */
export interface TcpProxy {
  /** host:port */
  address: string;
  /** Ends all connections and refuses new ones. */
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** From now on nothing passes in either direction, though every connection stays open and new ones are taken. */
  freeze(): void;
  /** Nothing passes any more on the connections that are open now; new ones work. */
  hold(): void;
  /** What was held back passes, and all else again. */
  thaw(): void;
}

/** Opens a way to `target` (host:port) at an address of this machine; close it with `cut()`. */
export async function openProxy(target: string, at = '127.0.0.1'): Promise<TcpProxy> {
  const [host, port] = target.split(':');
  const sockets = new Set<Socket>();
  const ways = new Set<{ stop(): void; go(): void }>();
  let frozen = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  };
  let server: Server | null = null;
  const listen = async (on: number) => {
    server = createServer((near) => {
      const far = connect(Number(port), host);
      keep(near);
      keep(far);
      const way = {
        stop: () => {
          for (const socket of [near, far]) socket.unpipe().pause();
        },
        go: () => {
          near.pipe(far);
          far.pipe(near);
        },
      };
      ways.add(way);
      near.on('close', () => ways.delete(way));
      if (!frozen) way.go();
      near.on('close', () => far.destroy());
      far.on('close', () => near.destroy());
    });
    server.listen(on, at);
    await once(server, 'listening');
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  };
  // It comes back at the port that it had: no other program may take that port meanwhile.
  const own = await listen(await freePort());
  return {
    address: `${at}:${own}`,
    cut: async () => {
      const closing = server;
      server = null;
      if (closing === null) return;
      const closed = once(closing, 'close');
      closing.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    mend: async () => {
      await listen(own);
    },
    freeze: () => {
      frozen = true;
      for (const way of ways) way.stop();
    },
    hold: () => {
      for (const way of ways) way.stop();
    },
    thaw: () => {
      frozen = false;
      for (const way of ways) way.go();
    },
  };
}
