import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Registry } from 'prom-client';
import { METRICS_PATH } from '../../domain/operator/metrics-access.ts';
import type { KeyedCertificate } from '../operator-proxy/issue-certificate.ts';
import type { MetricsGuard } from './metrics-guard.ts';

export interface MetricsListener {
  /** Speaks with another certificate from now on. Throws where it cannot be used. */
  renew(certificate: KeyedCertificate): void;
  close(): Promise<void>;
}

export interface MetricsListening {
  host: string;
  port: number;
  /** Null: plain HTTP. */
  certificate?: KeyedCertificate | null;
  /** Null: every client may read. */
  guard?: MetricsGuard | null;
}

const REFUSALS = {
  unknown: [401, 'a token of an account of the cluster is needed'],
  forbidden: [403, `the account may not get ${METRICS_PATH}`],
  unanswered: [503, 'the cluster was not asked about the token'],
} as const;

/** Answers `GET /metrics` with what a registry has, in Prometheus's text form. Throws where the address is taken. */
export async function listenForMetrics(
  { host, port, certificate = null, guard = null }: MetricsListening,
  registry: Registry,
): Promise<MetricsListener> {
  const answer: RequestListener = (request, response) => {
    const plain = (status: number, text: string, more = {}) => {
      response.writeHead(status, { 'content-type': 'text/plain', ...more }).end(text);
    };
    if (request.url?.split('?')[0] !== METRICS_PATH) return plain(404, 'not found');
    if (request.method !== 'GET' && request.method !== 'HEAD') return plain(405, 'method not allowed');
    const reading = async () => {
      const verdict = (await guard?.(request.headers.authorization)) ?? 'admitted';
      if (verdict === 'admitted') {
        const text = await registry.metrics();
        response.writeHead(200, { 'content-type': registry.contentType }).end(text);
        return;
      }
      const [status, words] = REFUSALS[verdict];
      plain(status, words, status === 401 ? { 'www-authenticate': 'Bearer' } : {});
    };
    reading().catch(() => plain(500, 'the metrics cannot be read'));
  };
  const secure = certificate === null ? null : createSecureServer(contextOf(certificate), answer);
  const server = secure ?? createServer(answer);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  });
  return {
    renew: (next) => secure?.setSecureContext(contextOf(next)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const contextOf = ({ certificate, key }: KeyedCertificate) => ({ cert: certificate, key });
