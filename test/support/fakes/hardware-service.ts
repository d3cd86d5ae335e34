import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What stands in for a hardware state manager: it answers its list of components, or fails as a test says. */
export interface HardwareManager {
  /** Base address, as the settings take it. */
  url: string;
  /** What the list has; tests change it. */
  entries: unknown[];
  /** In place of the list: a status, or an answer that is none. */
  failure: number | 'cut' | 'rubbish' | null;
  /** Paths asked for. */
  asked: string[];
  close(): Promise<void>;
}

/** Starts one on a free port of 127.0.0.1, or on a given one. */
export async function startHardwareManager(port = 0): Promise<HardwareManager> {
  const manager: HardwareManager = { url: '', entries: [], failure: null, asked: [], close: () => closed(server) };
  const server = createServer((request, response) => {
    manager.asked.push(request.url ?? '');
    const { failure } = manager;
    if (failure === 'cut') request.socket.destroy();
    else if (failure === 'rubbish') response.end('<html>');
    else if (failure !== null) response.writeHead(failure).end('{}');
    else if (request.url !== '/hsm/v2/State/Components/') response.writeHead(404).end('{}');
    else response.end(JSON.stringify({ Components: manager.entries }));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  manager.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hsm/v2`;
  return manager;
}

const closed = (server: Server) =>
  new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

/** The entry of a node. */
export const node = (ID: string, Type = 'Node') => ({ ID, Type, State: 'Ready', Role: 'Compute' });
