import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface TenantRegistryServer {
  /** Base address, with a path. */
  url: string;
  /** Paths that were asked for. */
  asked: string[];
  stop(): Promise<void>;
}

export interface TenantRegistryOptions {
  /** Names of tenants that there are. */
  tenants: readonly string[];
  tls?: { key: string; cert: string };
  /** Answers instead when it returns true. */
  intercept?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** A registry of tenants on a free port of 127.0.0.1: `GET <base>/tenants/<name>`. */
export async function startTenantRegistry(options: TenantRegistryOptions): Promise<TenantRegistryServer> {
  const asked: string[] = [];
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    asked.push(request.url ?? '');
    if (options.intercept?.(request, response)) return;
    const name = /^\/registry\/tenants\/([^/]+)$/.exec(request.url ?? '')?.[1];
    const known = request.method === 'GET' && name !== undefined && options.tenants.includes(decodeURIComponent(name));
    response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(known ? { name: decodeURIComponent(name) } : { message: 'not found' }));
  };
  const server = options.tls ? createTlsServer(options.tls, handle) : createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}/registry`,
    asked,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
