import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from '@jest/globals';
import { isPrivateAddress } from '../../drivers/webhooks/private-addresses.ts';
import { createWebhookSender } from '../../drivers/webhooks/send-webhook.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** Base address of a receiver on loopback. */
async function receiver(answer: RequestListener, host = '127.0.0.1'): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

const send = (url: string, allowPrivateRedirects = false, signal = new AbortController().signal) =>
  createWebhookSender({}).send({
    url,
    allowPrivateRedirects,
    headers: { 'content-type': 'application/json', 'muster-event': 'ping' },
    body: '{"grüße":1}',
    signal,
  });

test('posts the body as it is', async () => {
  const seen: { method: string | undefined; headers: IncomingHttpHeaders; body: string }[] = [];
  const url = await receiver(async (request, response) => {
    seen.push({ method: request.method, headers: request.headers, body: await text(request) });
    response.writeHead(204).end();
  });
  expect(await send(`${url}/hook?a=b`)).toEqual({ status: 204, retryAfter: 0 });
  expect(seen).toEqual([
    { method: 'POST', body: '{"grüße":1}', headers: expect.objectContaining({ 'muster-event': 'ping' }) },
  ]);
});

test.each([
  [{ 'retry-after': '17' }, 17],
  [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, 0],
  [{}, 0],
])('tells what a busy receiver asks for: %j', async (headers, retryAfter) => {
  const url = await receiver((_request, response) => void response.writeHead(503, headers).end('busy'));
  expect(await send(url)).toEqual({ status: 503, retryAfter });
});

test('an answer that never ends is cut', async () => {
  const url = await receiver((_request, response) => {
    response.writeHead(200);
    const more = () => response.write(Buffer.alloc(64 * 1024), () => setImmediate(more));
    more();
    response.on('error', () => undefined);
  });
  expect((await send(url)).status).toBe(200);
});

test('gives up when it is told to', async () => {
  const stop = new AbortController();
  const url = await receiver(() => stop.abort());
  await expect(send(url, false, stop.signal)).rejects.toThrow(/abort/i);
});

describe('a redirect', () => {
  const redirecting = (location: string, status = 308) =>
    receiver((_request, response) => void response.writeHead(status, { location }).end());

  test.each([
    'http://127.0.0.1:1/',
    'http://localhost:1/',
    'http://2130706433:1/',
    'http://[::1]:1/',
    'http://[::ffff:10.0.0.1]/',
  ])('to %s is not followed', async (location) => {
    await expect(send(await redirecting(location))).rejects.toThrow(/private address/);
  });
  test('to a private address is followed where that is allowed, with the body', async () => {
    let body = '';
    const target = await receiver(async (request, response) => {
      body = `${request.method} ${await text(request)}`;
      response.writeHead(200).end();
    });
    expect((await send(await redirecting(target, 307), true)).status).toBe(200);
    expect(body).toBe('POST {"grüße":1}');
  });
  test.each([301, 302, 303])('with %i is not followed: the body would be lost', async (status) => {
    await expect(send(await redirecting('/other', status), true)).rejects.toThrow(`redirects with ${status}`);
  });
  test.each(['file:///etc/passwd', 'javascript:1', ''])('to %j is not followed', async (location) => {
    await expect(send(await redirecting(location), true)).rejects.toThrow(/redirects/);
  });
  test('in a circle ends', async () => {
    let asked = 0;
    const url = await receiver((_request, response) => {
      asked += 1;
      response.writeHead(308, { location: '/' }).end();
    });
    await expect(send(url, true)).rejects.toThrow('more than 3 times');
    expect(asked).toBe(4);
  });
});

test.each([
  ['127.0.0.1', true],
  ['10.1.2.3', true],
  ['172.31.255.255', true],
  ['172.32.0.1', false],
  ['192.168.1.1', true],
  ['169.254.169.254', true],
  ['100.64.0.1', true],
  ['100.128.0.1', false],
  ['0.0.0.0', true],
  ['8.8.8.8', false],
  ['224.0.0.1', true],
  ['255.255.255.255', true],
  ['::1', true],
  ['::', true],
  ['fe80::1', true],
  ['fd00::1', true],
  ['::ffff:127.0.0.1', true],
  ['::ffff:7f00:1', true],
  ['::ffff:8.8.8.8', false],
  ['64:ff9b::a00:1', true],
  ['2a00:1450:4001:81b::200e', false],
  ['no address', true],
])('%s is private: %s', (address, isPrivate) => {
  expect(isPrivateAddress(address)).toBe(isPrivate);
});
