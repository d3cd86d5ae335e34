/** Reads the metrics of an operator by https, whoever has signed its certificate. */
import { once } from 'node:events';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';

export interface MetricsAnswer {
  status: number | undefined;
  text: string;
  /** Of the certificate. */
  fingerprint: string;
  /** How the server asks for credentials. */
  asks: string | undefined;
}

export async function readMetrics(port: number, token?: string, host = '127.0.0.1'): Promise<MetricsAnswer> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const options = {
    host,
    port,
    path: '/metrics',
    headers,
    rejectUnauthorized: false,
    agent: false as const,
  };
  const [answer] = await once(request(options).end(), 'response');
  const { fingerprint256: fingerprint } = (answer.socket as TLSSocket).getPeerCertificate();
  const said = await text(answer);
  return { status: answer.statusCode, text: said, fingerprint, asks: answer.headers['www-authenticate'] };
}
