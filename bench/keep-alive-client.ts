/** An HTTP client with one lasting connection, as a client process has; it adds as little as it can to what is measured. */
import { Agent, request } from 'node:http';

export interface Reply {
  status: number;
  text: string;
  /** From the first byte sent to the last byte received. */
  ms: number;
}

export interface KeepAliveClient {
  /** A body that is text goes as it is, anything else as JSON. */
  send(method: string, path: string, body?: unknown): Promise<Reply>;
  close(): void;
}

export function keepAliveClient(base: string): KeepAliveClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    send: (method, path, body) => {
      const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
      const headers = payload === undefined ? {} : { 'content-type': 'application/json' };
      return new Promise((resolve, reject) => {
        const started = performance.now();
        const sent = request(`${base}${path}`, { method, agent, headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            resolve({ status: response.statusCode ?? 0, text, ms: performance.now() - started });
          });
        });
        sent.on('error', reject);
        sent.end(payload);
      });
    },
    close: () => agent.destroy(),
  };
}
