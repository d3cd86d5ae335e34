/** Requests that nobody should make, and an API server that behaves badly: what reaches it, and what the client is told. */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { ClusterAccess } from '../../../drivers/kubernetes/cluster-access.ts';
import { eventually } from '../../support/eventually.ts';
import { type Guest, openProxied, type Proxied, WIDGET } from './proxied.ts';

const CMS = '/api/v1/namespaces/ns1/configmaps';
const MIB = 1024 * 1024;

let upstream: Server;
let port: number;
let access: ClusterAccess;
let proxied: Proxied;
let guest: Guest;
/** What reached the API server, discovery excepted. */
let reached: { line: string; headers: IncomingMessage['headers']; raw: string[]; body: string }[] = [];
let behave: ((request: IncomingMessage, response: ServerResponse) => void) | null = null;
/** What discovery waits for. */
let discovering = Promise.resolve();

const DISCOVERY = {
  resources: [
    { name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs: ['create', 'get', 'list', 'watch'] },
    { name: 'pods', kind: 'Pod', namespaced: true, verbs: ['create', 'get', 'list', 'watch'] },
  ],
};

beforeAll(async () => {
  upstream = createServer(async (incoming, response) => {
    if (incoming.url === '/api/v1') return void discovering.then(() => response.end(JSON.stringify(DISCOVERY)));
    const { headers, rawHeaders: raw, method, url } = incoming;
    const entry = { line: `${method} ${url}`, headers, raw, body: '' };
    reached.push(entry);
    if (behave !== null) return behave(incoming, response);
    entry.body = await text(incoming).catch(() => '');
    response.setHeader('x-cluster', 'yes').end('{"ok":true}');
  });
  await once(upstream.listen(0, '127.0.0.1'), 'listening');
  port = (upstream.address() as AddressInfo).port;
  const headers = { Authorization: 'Bearer operator' };
  access = {
    read: async () => ({ server: new URL(`http://127.0.0.1:${port}`), options: { headers } }),
    forget: () => undefined,
  };
  proxied = await openProxied(access);
  guest = proxied.admit();
});

afterAll(async () => {
  await proxied.close();
  upstream.closeAllConnections();
  upstream.close();
});

afterEach(() => {
  reached = [];
  behave = null;
  upstream.removeAllListeners('upgrade');
});

/** Sends bytes and reads all that comes until the connection is closed. */
async function raw(...parts: (string | Buffer)[]): Promise<string> {
  const socket = await proxied.socket();
  for (const part of parts) socket.write(part);
  return await everything(socket);
}

async function everything(socket: TLSSocket): Promise<string> {
  let all = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    all += chunk;
  });
  socket.on('error', () => undefined);
  if (!socket.closed) await once(socket, 'close');
  return all;
}

const head = (line: string, ...headers: string[]) =>
  [line, 'Host: localhost', `Authorization: ${guest.authorization}`, ...headers, '', ''].join('\r\n');

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

describe('a target that is no path of the API server', () => {
  test.each([
    'GET http://10.0.0.1/secrets HTTP/1.1',
    'GET https://127.0.0.1/api HTTP/1.1',
    'GET //evil/api HTTP/1.1',
    'GET /api/v1/../../metrics HTTP/1.1',
    'GET /api/%2e%2e/metrics HTTP/1.1',
    'GET /api/v1%2f..%2f..%2fmetrics HTTP/1.1',
    'GET /api//v1 HTTP/1.1',
    'OPTIONS * HTTP/1.1',
  ])('%s: 400, and nothing reaches the API server', async (line) => {
    const answer = await raw(head(line));
    expect(statusOf(answer)).toBe(400);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ kind: 'Status', code: 400 });
    expect(reached).toEqual([]);
  });

  test('CONNECT: 400', async () => {
    const answer = await raw(head('CONNECT 127.0.0.1:22 HTTP/1.1'));
    expect(statusOf(answer)).toBe(400);
    expect(reached).toEqual([]);
  });

  test('an upgrade of one: 400', async () => {
    const answer = await raw(head('GET /api/../x HTTP/1.1', 'Connection: Upgrade', 'Upgrade: websocket'));
    expect(statusOf(answer)).toBe(400);
  });

  test('is told without authority too, before anything else', async () => {
    expect(statusOf(await raw('GET /a//b HTTP/1.1\r\nHost: x\r\n\r\n'))).toBe(400);
  });
});

describe('a request that is framed in two ways', () => {
  test.each([
    ['two lengths', ['Content-Length: 2', 'Content-Length: 3']],
    ['a length and chunks', ['Content-Length: 2', 'Transfer-Encoding: chunked']],
    ['a length that is none', ['Content-Length: -1']],
    ['an odd encoding', ['Transfer-Encoding: chunked, odd']],
  ])('%s: refused', async (_, headers) => {
    const answer = await raw(head(`POST ${CMS} HTTP/1.1`, 'Content-Type: application/json', ...headers), '{}');
    expect(statusOf(answer)).toBe(400);
    expect(reached).toEqual([]);
  });

  test('a body in front of another protocol: refused', async () => {
    const answer = await raw(
      head(`POST ${CMS} HTTP/1.1`, 'Connection: Upgrade', 'Upgrade: odd', 'Content-Length: 5'),
      '{"a":',
    );
    expect(statusOf(answer)).toBe(400);
    expect(reached).toEqual([]);
  });

  test('too many headers: refused', async () => {
    const answer = await raw(head('GET /api HTTP/1.1', `X-Long: ${'x'.repeat(70_000)}`));
    expect(statusOf(answer)).toBe(431);
    expect(reached).toEqual([]);
  });
});

describe('nobody', () => {
  const authorized = (authorization: string | null) =>
    raw(`GET ${CMS} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${authorization ?? 'X-None: 1'}\r\n\r\n`);

  test('P10, P11: no password, a wrong one, garbage, the name of another resource: 401', async () => {
    const other = proxied.admit({ ...WIDGET, name: 'w2', uid: 'u2' });
    const [name = ''] = atob(guest.authorization.slice(6)).split(':');
    const foreign = `Basic ${btoa(`${name}:${other.password}`)}`;
    for (const header of [
      null,
      'Authorization: Basic Z2FyYmFnZTp4',
      `Authorization: Basic ${btoa(`${name}:musterproxy_wrong`)}`,
      `Authorization: Basic ${btoa(`${name}:`)}`,
      `Authorization: ${foreign}`,
      `Authorization: Bearer ${guest.password}`,
      'X-Remote-User: system:admin',
    ]) {
      const answer = await authorized(header);
      expect(statusOf(answer)).toBe(401);
      expect(answer).toContain('WWW-Authenticate'.toLowerCase());
    }
    const upgrading = await raw('GET /x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    expect(statusOf(upgrading)).toBe(401);
    expect(reached).toEqual([]);
  });

  test('a run that is over: 401 on the connection that it has, and what it had open is cut', async () => {
    behave = (_, response) => void response.flushHeaders();
    const brief = proxied.admit({ ...WIDGET, name: 'w3', uid: 'u3' });
    const watching = request(proxied.options(brief, 'GET', `${CMS}?watch=1`)).end();
    const [answer] = (await once(watching, 'response')) as [IncomingMessage];
    const broken = once(answer, 'error');
    answer.resume();
    proxied.proxy.end(brief.run.runId);
    await broken;
    behave = null;
    expect((await proxied.ask(brief, 'GET', CMS)).status).toBe(401);
    expect((await proxied.ask(guest, 'GET', CMS)).status).toBe(200);
  });
});

describe('a body of 17 MiB', () => {
  const large = Buffer.alloc(17 * MIB, 'x');

  test.each(['POST', 'PUT', 'DELETE'])(
    '%s with its length: 413, and nothing reaches the API server',
    async (method) => {
      const answer = await proxied.ask(guest, method, `${CMS}${method === 'POST' ? '' : '/c'}`, large);
      expect(answer.status).toBe(413);
      expect(answer.json).toMatchObject({ kind: 'Status', reason: 'RequestEntityTooLarge' });
      expect(reached).toEqual([]);
    },
  );

  test.each(['POST', 'PUT'])('%s in chunks: 413, and nothing reaches the API server', async (method) => {
    const outgoing = request(proxied.options(guest, method, `${CMS}${method === 'POST' ? '' : '/c'}`));
    outgoing.setHeader('transfer-encoding', 'chunked');
    outgoing.on('error', () => undefined);
    for (let at = 0; at < large.length; at += MIB) outgoing.write(large.subarray(at, at + MIB));
    outgoing.end();
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(413);
    expect(reached).toEqual([]);
  });

  test('one of 15 MiB goes through, in chunks and with its length', async () => {
    const most = Buffer.alloc(15 * MIB, 'y');
    expect((await proxied.ask(guest, 'PUT', `${CMS}/c`, most)).status).toBe(200);
    const outgoing = request(proxied.options(guest, 'PUT', `${CMS}/d`));
    outgoing.end(most);
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(200);
    expect(reached.map(({ body }) => body.length)).toEqual([most.length, most.length]);
  });
});

describe('what is handed on', () => {
  test('headers without who asks; credentials are the operator’s', async () => {
    const answer = await raw(
      head(
        `GET ${CMS}?limit=5&continue=a%2Fb HTTP/1.1`,
        'Connection: close, X-Secret',
        'X-Secret: 1',
        'X-Remote-Group: system:masters',
        'Accept: a',
        'Accept: b',
        'Proxy-Authorization: x',
      ),
    );
    expect(statusOf(answer)).toBe(200);
    const [got] = reached;
    expect(got?.line).toBe(`GET ${CMS}?limit=5&continue=a%2Fb`);
    expect(got?.headers).toMatchObject({ authorization: 'Bearer operator', accept: 'a, b' });
    expect(Object.keys(got?.headers ?? {})).not.toEqual(expect.arrayContaining(['x-secret']));
    expect(JSON.stringify(got?.raw)).not.toMatch(/x-remote|proxy-auth|Basic/i);
  });

  test('a DELETE with a body keeps it, with its length', async () => {
    const body = '{"preconditions":{"uid":"u"}}';
    await proxied.ask(guest, 'DELETE', `${CMS}/c`, body);
    expect(reached[0]).toMatchObject({ body, headers: { 'content-length': String(body.length) } });
  });

  test('P7: a patch and an update as they are, byte for byte', async () => {
    const body = ' {"a" : 12345678901234567890, "a":1.0}';
    await proxied.ask(guest, 'PATCH', `${CMS}/c`, body, 'application/merge-patch+json');
    await proxied.ask(guest, 'PUT', `${CMS}/c`, body);
    expect(reached.map((request) => request.body)).toEqual([body, body]);
  });

  test('a marked body has its new length and every number as it was written', async () => {
    const body = '{"data":{"big":9007199254740993,"one":1.0,"e":1E3,"__proto__":{"a":1}}}';
    await proxied.ask(guest, 'POST', CMS, body);
    const [got] = reached;
    expect(got?.body).toContain('"big":9007199254740993,"one":1.0,"e":1E3,"__proto__":{"a":1}');
    expect(Number(got?.headers['content-length'])).toBe(Buffer.byteLength(got?.body ?? ''));
    expect(JSON.parse(got?.body ?? '').metadata.ownerReferences[0].uid).toBe(WIDGET.uid);
  });

  test.each([
    ['no JSON', 'garbage{'],
    ['nothing', ''],
    ['a list', '[]'],
    ['a number', '5'],
    ['YAML where JSON is said', 'kind: ConfigMap'],
    ['metadata that is no map', '{"metadata":5}'],
    ['nesting without end', `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`],
    ['no UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
  ])('P9: a POST with %s: 400, and nothing reaches the API server', async (_, body) => {
    expect((await proxied.ask(guest, 'POST', CMS, body)).status).toBe(400);
    expect(reached).toEqual([]);
  });
});

describe('an API server', () => {
  test('that breaks off in the middle: the client sees it', async () => {
    behave = (_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half');
      setTimeout(() => response.destroy(), 50);
    };
    await expect(proxied.ask(guest, 'GET', CMS)).rejects.toThrow();
  });

  test('that closes connections without an answer: 502', async () => {
    behave = (incoming) => void incoming.socket.destroy();
    const answer = await proxied.ask(guest, 'PUT', `${CMS}/c`, '{}');
    expect(answer.status).toBe(502);
    expect(answer.json).toMatchObject({ kind: 'Status', status: 'Failure', code: 502 });
  });

  test('of which nobody hears: 502, for other protocols as well', async () => {
    const lost = await openProxied({
      read: async () => ({ server: new URL('http://127.0.0.1:9'), options: {} }),
      forget: () => undefined,
    });
    try {
      const one = lost.admit();
      expect((await lost.ask(one, 'GET', '/version')).status).toBe(502);
      expect((await lost.ask(one, 'POST', CMS, '{}')).status).toBe(500);
      const socket = await lost.socket();
      const authorization = `Authorization: ${one.authorization}`;
      socket.write(`GET /x HTTP/1.1\r\nHost: x\r\n${authorization}\r\nConnection: Upgrade\r\nUpgrade: odd\r\n\r\n`);
      expect(statusOf(await everything(socket))).toBe(502);
    } finally {
      await lost.close();
    }
  });

  test('that answers before it has read the body: the answer comes', async () => {
    behave = (_, response) => void response.writeHead(403).end('{"kind":"Status"}');
    expect((await proxied.ask(guest, 'PUT', `${CMS}/c`, Buffer.alloc(4 * MIB))).status).toBe(403);
  });
});

describe('another protocol', () => {
  test('goes through with what comes behind the heads, in both directions, and ends with either side', async () => {
    const heard: Buffer[] = [];
    upstream.on('upgrade', (incoming: IncomingMessage, socket: Socket, first: Buffer) => {
      reached.push({ line: `${incoming.method} ${incoming.url}`, headers: incoming.headers, raw: [], body: '' });
      if (first.length > 0) heard.push(first);
      socket.on('data', (chunk) => heard.push(chunk));
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\nfirst words');
      socket.on('end', () => socket.end());
    });
    const socket = await proxied.socket();
    const exec = '/api/v1/namespaces/ns1/pods/p/exec?command=id';
    socket.write(
      `${head(`POST ${exec} HTTP/1.1`, 'Connection: Upgrade', 'Upgrade: SPDY/3.1', 'Content-Length: 0')}early`,
    );
    let all = '';
    socket.on('data', (chunk: Buffer) => {
      all += chunk.toString('latin1');
    });
    await eventually('the words behind the head are there', async () => all.endsWith('first words'));
    expect(all).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
    socket.write(' and late');
    await eventually('the server heard all', async () => Buffer.concat(heard).toString() === 'early and late');
    expect(reached[0]).toMatchObject({ line: `POST ${exec}`, headers: { upgrade: 'SPDY/3.1', connection: 'Upgrade' } });
    expect(proxied.told.writes.at(-1)).toMatchObject({ verb: 'exec', kind: 'Pod', name: 'p', subresource: 'exec' });
    socket.end();
    await once(socket, 'close');
  });

  test('that the API server does not speak: its answer comes, whole', async () => {
    const answer = await raw(head(`GET ${CMS} HTTP/1.1`, 'Connection: Upgrade', 'Upgrade: websocket'));
    expect(statusOf(answer)).toBe(200);
    expect(answer).toContain('x-cluster: yes');
    expect(answer).toMatch(/\{"ok":true\}$/);
  });

  test('of a run that ends is cut', async () => {
    upstream.on('upgrade', (_incoming: IncomingMessage, socket: Socket) => {
      socket.on('error', () => undefined);
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: odd\r\n\r\n');
    });
    const brief = proxied.admit({ ...WIDGET, name: 'w4', uid: 'u4' });
    const socket = await proxied.socket();
    const authorization = `Authorization: ${brief.authorization}`;
    socket.write(`GET /x HTTP/1.1\r\nHost: x\r\n${authorization}\r\nConnection: Upgrade\r\nUpgrade: odd\r\n\r\n`);
    await once(socket, 'data');
    const closed = once(socket, 'close');
    proxied.proxy.end(brief.run.runId);
    await closed;
  });
});

test('a client that has its whole answer finds its write noted, however long discovery takes', async () => {
  const plain = await openProxied(access, { inject: false });
  try {
    const held = Promise.withResolvers<void>();
    discovering = held.promise;
    behave = (_incoming, response) => void response.end('{"metadata":{"name":"made-1"}}');
    const asking = request(plain.options(plain.admit(), 'POST', CMS)).end('{}');
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    held.resolve();
    expect(await text(answer)).toBe('{"metadata":{"name":"made-1"}}');
    expect(plain.told.writes).toMatchObject([{ verb: 'create', kind: 'ConfigMap', name: 'made-1' }]);
  } finally {
    discovering = Promise.resolve();
    await plain.close();
  }
});

test('so does a client whose command is let in', async () => {
  const plain = await openProxied(access, { inject: false });
  const held = Promise.withResolvers<void>();
  try {
    discovering = held.promise;
    const reachedPod = Promise.withResolvers<void>();
    upstream.on('upgrade', (_incoming: IncomingMessage, socket: Socket) => {
      socket.on('error', () => undefined);
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: odd\r\n\r\n');
      reachedPod.resolve();
    });
    const socket = await plain.socket();
    const answered = once(socket, 'data');
    const one = plain.admit();
    const authorization = `Authorization: ${one.authorization}`;
    const line = 'POST /api/v1/namespaces/ns1/pods/p/exec?command=id HTTP/1.1';
    socket.write(`${[line, 'Host: x', authorization, 'Connection: Upgrade', 'Upgrade: odd'].join('\r\n')}\r\n\r\n`);
    const refused = once(socket, 'close').then(() => Promise.reject(new Error('the connection is closed')));
    refused.catch(() => undefined);
    await Promise.race([reachedPod.promise, refused]);
    // Takes longer than the answer would, were that handed on at once.
    await plain.ask(one, 'GET', '/version');
    held.resolve();
    await Promise.race([answered, refused]);
    expect(plain.told.writes).toMatchObject([{ verb: 'exec', kind: 'Pod', name: 'p', subresource: 'exec' }]);
    socket.destroy();
  } finally {
    held.resolve();
    discovering = Promise.resolve();
    await plain.close();
  }
});

test('nothing that is told of requests has a query, a password or a body in it', async () => {
  await proxied.ask(guest, 'PUT', `${CMS}/told?secret=s3cret`, '{"data":"s3cret"}');
  // It is told once the answer is through.
  const answered = await eventually('it is told', () =>
    proxied.told.answered.find(({ path }) => path.includes('told')),
  );
  const told = JSON.stringify(proxied.told);
  expect(answered).toMatchObject({ method: 'PUT', path: `${CMS}/told`, status: 200 });
  expect(told).not.toContain('s3cret');
  expect(told).not.toContain('musterproxy_');
});
