import { createServer } from 'node:http';

export interface ProbeListener {
  /** From now on the worker takes work, until `isWorking` says no. */
  ready(isWorking: () => boolean): void;
  close(): Promise<void>;
}

/**
 * Answers those who run the worker, at `address` (host:port): `/livez` is 200 as long as the process answers at all, `/readyz` is 200
 * while it takes work and 503 before and after. Servers that are away are waited for, so they are no reason for a restart.
 */
export async function listenForProbes(address: string): Promise<ProbeListener> {
  let isWorking = () => false;
  const server = createServer((request, response) => {
    const ok = request.url === '/livez' || (request.url === '/readyz' && isWorking());
    const known = request.url === '/livez' || request.url === '/readyz';
    response.writeHead(ok ? 200 : known ? 503 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ok }));
  });
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port: Number(address.slice(colon + 1)) }, resolve);
  });
  return {
    ready: (question) => {
      isWorking = question;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
