import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
let port: number;
beforeAll(async () => {
  api = await createTestApi({ maxBody: 100_000 });
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  const address = api.app.server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterAll(() => api.close());

/** Sends bytes as they are and reads until the server closes. */
function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      answer += chunk;
    });
    socket.on('error', reject).on('close', () => resolve(answer));
  });
}

const get = (path: string, headers = '') =>
  raw(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${headers}\r\n`);

test('a URL of 200 KiB is read, more than the limit is refused with a problem document', async () => {
  const ids = (length: number) => `/v3/components?ids=${'x'.repeat(length)}`;
  expect(await get(ids(200 * 1024))).toMatch(/^HTTP\/1\.1 200 /);
  for (const length of [300 * 1024, 3 * 2 ** 20]) {
    expect(await get(ids(length))).toMatch(
      /^HTTP\/1\.1 431 [\s\S]*content-type: application\/problem\+json[\s\S]*"code":"headers_too_large"/,
    );
  }
});

test('a client that goes on after its refusal is given up', async () => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const goOn = () => void socket.write('x'.repeat(64 * 1024), (error) => void (error ?? setTimeout(goOn, 20)));
  socket.on('error', () => undefined).on('connect', goOn);
  await new Promise((resolve) => socket.on('close', resolve).resume());
});

test('what is no HTTP gets a 400', async () => {
  expect(await raw('nonsense\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 [\s\S]*application\/problem\+json/);
  expect(await raw('GET / HTTP/1.1\r\nconnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  expect(await raw('GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 [\s\S]*Host header/);
});

test.each(['PROPFIND', 'TRACE', 'REPORT', 'QUERY'])(
  'the method %s is 405 on a known path, 404 on another',
  async (method) => {
    const send = (path: string) => raw(`${method} ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
    expect(await send('/v3/options')).toMatch(/^HTTP\/1\.1 405 [\s\S]*problem\+json/);
    expect(await send('/v3/nothing')).toMatch(/^HTTP\/1\.1 404 [\s\S]*problem\+json/);
  },
);

test('paths in absolute form, with a fragment, or with dots do no harm', async () => {
  for (const path of [
    'http://localhost/v3/options',
    '/v3/options#x',
    '/v3/../v3/options',
    '*',
    '/\\v3',
    '/v3/%2e%2e/options',
    '/v3/components/..%2f..',
  ]) {
    expect(await get(path)).toMatch(/^HTTP\/1\.1 [24]0[0-9] /);
  }
});

test('a body that grows above the limit while it comes is 413', async () => {
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const options = {
      port,
      method: 'PUT',
      path: '/v3/components/x',
      headers: { host: 'localhost', 'content-type': 'application/json' },
    };
    const request = httpRequest(options, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', reject);
    request.write(`{"tags": {"a": "${'x'.repeat(90_000)}`);
    request.write('y'.repeat(20_000));
  });
  expect(status).toBe(413);
});

test('answers to the address that a connection came in by, not to another one', async () => {
  const host = (name: string) => raw(`GET / HTTP/1.1\r\nhost: ${name}\r\nconnection: close\r\n\r\n`);
  expect(await host(`127.0.0.1:${port}`)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await host('10.0.0.1')).toMatch(/^HTTP\/1\.1 421 /);
});

test('a reader that goes away in the middle of a large list disturbs nobody', async () => {
  const ids = Array.from({ length: 5_000 }, (_, index) => ({ id: `c${index}`, tags: { t: 'x'.repeat(100) } }));
  for (let start = 0; start < ids.length; start += 500) {
    expect((await api.call('PUT', '/v3/components', ids.slice(start, start + 500))).status).toBe(200);
  }
  api.logged.length = 0;
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write('GET /v3/components?limit=5000 HTTP/1.1\r\nhost: localhost\r\n\r\n'),
    );
    socket.once('data', () => socket.destroy());
    socket.on('close', () => resolve());
  });
  expect(await get('/v3/components?limit=5000')).toMatch(/^HTTP\/1\.1 200 [\s\S]*"next":null\}/);
  expect(api.logged.filter((line) => Number(line.level) >= 50)).toEqual([]);
});
