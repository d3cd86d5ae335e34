import { once } from 'node:events';
import type { Server as HttpServer, ServerResponse } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import type { ApiServer } from './api-server.ts';

/**
 * Sockets that listen on the port. Node takes one connection from each in a turn of its event loop, so that with one alone a
 * busy process would leave new clients waiting at the door for seconds, where it cannot even refuse them.
 */
const DOORS = 32;
/** Where several sockets of a process can listen on one port. */
const CAN_SHARE = process.platform === 'linux';

export interface Address {
  host: string;
  port: number;
}

export interface Doors {
  /** Answers when every request that came in has its answer, or after so many ms. Closing the app waits for the first door's alone. */
  answered(withinMs: number): Promise<void>;
}

/** Listens on an address that nobody else listens on (else `EADDRINUSE`); closing the app ends it. */
export async function listen(app: ApiServer, address: Address): Promise<Doors> {
  const shared = { ...address, reusePort: CAN_SHARE };
  // Sockets that share a port do not notice a stranger on it; one that does not share it does.
  (await opened(createServer(), address)).close();
  const others: Server[] = [];
  app.addHook('preClose', async () => {
    for (const other of others) other.close();
  });
  await app.listen(shared);
  for (let door = 1; CAN_SHARE && door < DOORS; door += 1) {
    const letIn = (socket: Socket) => void app.server.emit('connection', socket);
    others.push(await opened(createServer({ allowHalfOpen: true, noDelay: true }, letIn), shared));
  }
  return doorsOf(app.server);
}

function doorsOf(server: HttpServer): Doors {
  const underWay = new Set<ServerResponse>();
  server.on('request', (_request, response: ServerResponse) => {
    underWay.add(response);
    response.once('close', () => underWay.delete(response));
  });
  return {
    answered: async (withinMs) => {
      const limit = AbortSignal.timeout(withinMs);
      const ends = [...underWay].map((response) => once(response, 'close', { signal: limit }));
      await Promise.allSettled(ends);
    },
  };
}

async function opened(server: Server, options: Address & { reusePort?: boolean }): Promise<Server> {
  server.listen(options);
  await once(server, 'listening');
  return server;
}
