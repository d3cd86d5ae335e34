/** What the proxy answers itself, in the form of the API server. */
import { STATUS_CODES } from 'node:http';
import type { Header } from '../../domain/operator/proxy-headers.ts';

/** An answer that does not come from the request that was asked for. */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly status: number;
  readonly headers: readonly Header[];
  readonly bytes: Buffer;

  constructor(status: number, headers: readonly Header[], bytes: Buffer, message: string) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.bytes = bytes;
  }
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  408: 'Timeout',
  413: 'RequestEntityTooLarge',
  431: 'RequestEntityTooLarge',
  500: 'InternalError',
  502: 'ServiceUnavailable',
  504: 'Timeout',
};

/** Returns a refusal as a `Status` object. */
export function refusal(code: number, message: string): Refusal {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' };
  const bytes = Buffer.from(JSON.stringify({ ...status, message, reason: REASONS[code] ?? 'Unknown', code }));
  const challenge: Header[] = code === 401 ? [['www-authenticate', 'Basic realm="muster"']] : [];
  return new Refusal(code, [['content-type', 'application/json'], ...challenge], bytes, message);
}

/** Returns what an error becomes for the client: what it says already, or that the API server is not there. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const words = error instanceof Error ? error.message || error.name : String(error);
  return refusal(502, `the API server does not answer: ${words}`);
}

/** Returns what is said to a request that cannot be read, by the code of Node's parser. */
export function refusalOfParser(code: string | undefined): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') return refusal(431, 'the headers of the request are larger than 64 KiB');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return refusal(408, 'the request did not come in time');
  return refusal(400, 'the request is no HTTP');
}

/** Returns an answer as it goes over a connection that is closed behind it. */
export function rawAnswer({ status, headers, bytes }: Refusal): Buffer {
  const head = [...headers, ['content-length', String(bytes.length)], ['connection', 'close']]
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${head}\r\n`, 'latin1'),
    bytes,
  ]);
}
