import { createServer } from 'node:http';

export interface Probes {
  close(): Promise<void>;
}

/** An address of Go: without a host it means all of the machine's, outside of a pod that of the machine itself alone. */
export function listenAddress(address: string, isPod: boolean): { host: string; port: number } {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, Math.max(0, colon)).replace(/^\[|\]$/g, '');
  return { host: host === '' ? (isPod ? '0.0.0.0' : '127.0.0.1') : host, port: Number(address.slice(colon + 1)) };
}

export interface ProbedProcess {
  isReady(): boolean;
  /** Returns why another start of the process would help; null: it would not. */
  trouble(): string | null;
}

/** Answers `/healthz` with 503 while another start of the process would help, and `/readyz` with 200 while it is ready. */
export async function listenForOperatorProbes(
  { host, port }: { host: string; port: number },
  { isReady, trouble }: ProbedProcess,
): Promise<Probes> {
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    const reason =
      path === '/healthz' ? trouble() : path === '/readyz' ? (isReady() ? null : 'not ready') : 'not found';
    const isKnown = path === '/healthz' || path === '/readyz';
    response.writeHead(reason === null ? 200 : isKnown ? 503 : 404, { 'content-type': 'text/plain' });
    response.end(reason ?? 'ok');
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
