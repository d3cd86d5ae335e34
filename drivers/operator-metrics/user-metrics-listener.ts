/** Takes the metrics that the module `osdk_metric` posts, from this machine alone. */
import { createServer, type IncomingMessage } from 'node:http';
import { METRICS_PATH } from '../../domain/operator/metrics-access.ts';
import { readUserMetric } from '../../domain/operator/user-metrics.ts';
import type { TakeUserMetric } from './user-metrics.ts';

/** The module names this address itself. */
const HOST = '127.0.0.1';
const BODY_MAX = 64 * 1024;
/** A request comes from this machine: one that takes longer (ms) has stopped. */
const REQUEST_MS = 10_000;

/** Listens for metrics of playbooks. Throws where the port is taken. */
export async function listenForUserMetrics(port: number, take: TakeUserMetric): Promise<{ close(): Promise<void> }> {
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, (request, response) => {
    const say = (status: number, text: string) => {
      // What is left of a body that was not read may not be taken for a request.
      const more = request.complete ? {} : { connection: 'close' };
      response.writeHead(status, { 'content-type': 'text/plain', ...more }).end(text);
    };
    if (request.url?.split('?')[0] !== METRICS_PATH) return say(404, 'not found');
    if (request.method !== 'POST') return say(405, 'method not allowed');
    received(request, take).then(
      ([status, text]) => say(status, text),
      () => say(400, 'the request ended too early'),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: HOST, port }, resolve);
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Returns status and text of the answer. */
async function received(request: IncomingMessage, take: TakeUserMetric): Promise<[number, string]> {
  const bytes = await bodyOf(request);
  if (bytes === null) return [413, `a metric has at most ${BODY_MAX} bytes`];
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString('utf8'));
  } catch {
    return [400, 'the body is not JSON'];
  }
  const metric = readUserMetric(body);
  if ('mistake' in metric) return [400, metric.mistake];
  const refusal = take(metric);
  return refusal === null ? [200, ''] : [400, refusal];
}

/** Returns the body of a request; null as soon as more has come than may be: the rest is let go. Rejects where it ends too early. */
function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | null>();
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= BODY_MAX) chunks.push(chunk);
    else {
      chunks.length = 0;
      resolve(null);
    }
  });
  request.on('end', () => resolve(Buffer.concat(chunks)));
  request.on('close', () => reject(new Error('the request ended too early')));
  return promise;
}
