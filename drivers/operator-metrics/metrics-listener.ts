import { createServer } from 'node:http';
import type { Registry } from 'prom-client';

export interface MetricsListener {
  close(): Promise<void>;
}

/** Answers `GET /metrics` with what a registry has, in Prometheus's text form. Throws where the address is taken. */
export async function listenForMetrics(
  { host, port }: { host: string; port: number },
  registry: Registry,
): Promise<MetricsListener> {
  const server = createServer((request, response) => {
    const plain = (status: number, text: string) =>
      response.writeHead(status, { 'content-type': 'text/plain' }).end(text);
    if (request.url?.split('?')[0] !== '/metrics') return plain(404, 'not found');
    if (request.method !== 'GET' && request.method !== 'HEAD') return plain(405, 'method not allowed');
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => plain(500, 'the metrics cannot be read'),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
