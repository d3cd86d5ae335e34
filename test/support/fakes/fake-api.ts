import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { ERRORS, type ErrorCode } from '../../../domain/errors.ts';

export interface SeenRequest {
  method: string;
  /** Path with query, as it came. */
  url: string;
  body: unknown;
  headers: IncomingMessage['headers'];
}

export type Handler = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;

export interface FakeApi {
  url: string;
  port: number;
  /** Requests in the order in which they came. */
  seen: SeenRequest[];
  /** Answers `method path` (without query) from now on. */
  on(route: string, handler: Handler): void;
  /** Cuts all connections and listens no more. */
  close(): Promise<void>;
}

/** A small HTTP server that speaks the API's contract as far as a test says; everything else is 404. */
export async function startFakeApi(port = 0): Promise<FakeApi> {
  const seen: SeenRequest[] = [];
  const routes = new Map<string, Handler>();
  const server = createServer(async (message, response) => {
    const request: SeenRequest = {
      method: message.method ?? '',
      url: message.url ?? '',
      headers: message.headers,
      body: message.headers['content-type'] === 'application/json' ? await json(message) : undefined,
    };
    seen.push(request);
    const handler = routes.get(`${request.method} ${request.url.split('?')[0]}`);
    if (handler) await handler(request, response);
    else problem(response, 'not_found', `there is no ${request.url}`);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    seen,
    on: (route, handler) => routes.set(route, handler),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function answer(response: ServerResponse, status: number, body?: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

export function problem(response: ServerResponse, code: ErrorCode, detail: string): void {
  const { status, title } = ERRORS[code];
  response.writeHead(status, { 'content-type': 'application/problem+json' });
  response.end(JSON.stringify({ type: 'about:blank', title, status, detail, code }));
}

/** A handler that answers always the same. */
export const always =
  (status: number, body?: unknown): Handler =>
  (_request, response) =>
    answer(response, status, body);

/** Begins an event stream. */
export function openStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(': hello\n\n');
}

/** Sends one message of an event stream. */
export function send(response: ServerResponse, data: unknown, id?: number, event?: string): void {
  const head = `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`;
  response.write(`${head}data: ${JSON.stringify(data)}\n\n`);
}
