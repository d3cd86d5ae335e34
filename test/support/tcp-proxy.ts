import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A way to a server that can be cut and mended, as a network or a restart does it. */
export interface TcpProxy {
  /** host:port */
  address: string;
  /** Ends all connections and refuses new ones. */
  cut(): Promise<void>;
  mend(): Promise<void>;
}

/** Opens a way to `target` (host:port); close it with `cut()`. */
export async function openProxy(target: string): Promise<TcpProxy> {
  const [host, port] = target.split(':');
  const sockets = new Set<Socket>();
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
      near.pipe(far);
      far.pipe(near);
      near.on('close', () => far.destroy());
      far.on('close', () => near.destroy());
    });
    server.listen(on, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  };
  const own = await listen(0);
  return {
    address: `127.0.0.1:${own}`,
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
  };
}
