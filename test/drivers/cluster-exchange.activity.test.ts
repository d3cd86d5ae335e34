import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { LateAnswer } from '../../drivers/http/exchange.ts';
import type { Access } from '../../drivers/kubernetes/cluster-access.ts';
import { exchange, type Outgoing } from '../../drivers/kubernetes/exchange.ts';

let server: Server;
let access: Access;
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeEach(async () => {
  server = createServer((request, response) => answer(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  access = { server: new URL(`http://127.0.0.1:${port}/base/`), options: { headers: { authorization: 'Bearer t' } } };
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const GET: Outgoing = { method: 'GET', path: '/api/v1/pods', query: { limit: '5' }, accept: 'text/plain' };
const whole = { withinMs: 60_000, mostBytes: () => Number.POSITIVE_INFINITY };

test('sends what it is given, and returns status, headers and bytes of any answer', async () => {
  const seen: object[] = [];
  answer = async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const { method, url, headers } = request;
    const { accept, authorization, 'content-type': type } = headers;
    seen.push({ method, url, accept, authorization, type, body: Buffer.concat(parts).toString() });
    response.writeHead(409, { 'x-of': 'cluster' }).end(Buffer.from([0, 255]));
  };
  const first = await exchange(access, GET, whole);
  expect([first.status, first.headers['x-of'], [...first.bytes]]).toEqual([409, 'cluster', [0, 255]]);
  const patch = {
    method: 'PATCH',
    path: '/x',
    body: '{"a":"ä"}',
    contentType: 'application/merge-patch+json',
  } as const;
  await exchange(access, { ...patch, accept: 'application/json' }, whole);
  await exchange(access, { method: 'DELETE', path: '/x', body: '{}', accept: 'application/json' }, whole);
  const authorization = 'Bearer t';
  expect(seen).toEqual([
    { method: 'GET', url: '/base/api/v1/pods?limit=5', accept: 'text/plain', authorization, type: undefined, body: '' },
    {
      ...{ method: 'PATCH', url: '/base/x', accept: 'application/json', authorization },
      ...{ type: 'application/merge-patch+json', body: '{"a":"ä"}' },
    },
    {
      ...{ method: 'DELETE', url: '/base/x', accept: 'application/json', authorization },
      ...{ type: 'application/json', body: '{}' },
    },
  ]);
});

test('reads so much of an answer as its status allows', async () => {
  answer = (_request, response) => void response.writeHead(500).end('x'.repeat(200_000));
  const mostBytes = (status: number) => (status === 500 ? 1_000 : 0);
  expect((await exchange(access, GET, { ...whole, mostBytes })).bytes.toString()).toBe('x'.repeat(1_000));
});

test.each([
  ['does not begin', () => undefined],
  ['does not end', (response: ServerResponse) => void response.writeHead(200).write('begun')],
])('an answer that %s in time is late', async (_what, begin) => {
  answer = (_request, response) => begin(response);
  await expect(exchange(access, GET, { ...whole, withinMs: 100 })).rejects.toThrow(LateAnswer);
});

test('a connection that breaks is no late answer', async () => {
  answer = (request) => request.socket.destroy();
  const error = await exchange(access, GET, whole).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'ECONNRESET' });
  expect(error).not.toBeInstanceOf(LateAnswer);
});
