import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

const MAX_BODY = 200_000;
const STALL_MS = 1_500;
const BODY_MS = 5_000;
let api: TestApi;
let port: number;
beforeAll(async () => {
  api = await createTestApi({ maxBody: MAX_BODY, stallMs: STALL_MS, bodyMs: BODY_MS, maxRequests: 4 });
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  const address = api.app.server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterAll(() => api.close());

interface Reading {
  socket: Socket;
  read(): string;
  until(pattern: RegExp, withinMs?: number): Promise<string>;
}

/** A connection that gathers what it reads. */
async function open(): Promise<Reading> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (piece: Buffer) => {
    text += piece.toString('latin1');
  });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const until = (pattern: RegExp, withinMs?: number) =>
    eventually(`${pattern}`, () => (pattern.test(text) ? text : null), withinMs);
  return { socket, read: () => text, until };
}

const head = (method: string, path: string, headers: string[] = []) =>
  [`${method} ${path} HTTP/1.1`, 'host: localhost', ...headers, '', ''].join('\r\n');
const JSON_TYPE = 'content-type: application/json';
/** A request on a connection of its own, which ends with it. */
async function answersMeanwhile(): Promise<void> {
  const request = get({ host: '127.0.0.1', port, path: '/v3/options', agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  await once(response.resume(), 'close');
}

describe('slow senders', () => {
  test('hold no place, and are given up when nothing comes', async () => {
    const slow = await Promise.all(Array.from({ length: 20 }, open));
    for (const { socket } of slow) {
      socket.write(head('PATCH', '/v3/components', [JSON_TYPE, 'content-length: 100000']));
      socket.write('[{"id":');
    }
    for (let turn = 0; turn < 10; turn++) await answersMeanwhile();
    for (const { until } of slow) {
      expect(await until(/"code"/)).toMatch(/^HTTP\/1\.1 408 [\s\S]*problem\+json[\s\S]*"request_timeout"/);
    }
    await Promise.all(slow.map(({ socket }) => socket.closed || once(socket, 'close')));
  });

  test('that go on sending are read to the end', async () => {
    const { socket, until } = await open();
    const body = JSON.stringify({ tags: { a: 'x'.repeat(20) } });
    socket.write(head('PUT', '/v3/components/slow', [JSON_TYPE, `content-length: ${body.length}`]));
    for (const piece of body.match(/.{1,8}/g) ?? []) {
      await new Promise<void>((resolve) => socket.write(piece, () => resolve()));
    }
    expect(await until(/"id"/)).toMatch(/^HTTP\/1\.1 200 /);
    socket.destroy();
  });

  test('that never come to an end are given up, however often they send', async () => {
    const { socket, until } = await open();
    socket.write(head('PUT', '/v3/components/drip', [JSON_TYPE, 'content-length: 100000']));
    const dripping = setInterval(() => socket.write(' '), 100);
    const answer = await until(/"code"/).finally(() => clearInterval(dripping));
    expect(answer).toMatch(/^HTTP\/1\.1 408 [\s\S]*"request_timeout"/);
    expect(answer).toContain('The body was not there after 5 s');
    socket.destroy();
  });

  test('that go away in the middle leave nothing behind', async () => {
    api.logged.length = 0;
    for (let turn = 0; turn < 30; turn++) {
      const { socket } = await open();
      socket.write(head('PUT', '/v3/components/gone', [JSON_TYPE, 'content-length: 1000']));
      await new Promise<void>((resolve) => socket.write('{"tags":', () => resolve()));
      socket.destroy();
    }
    await answersMeanwhile();
    expect((await api.call('GET', '/v3/components/gone')).status).toBe(404);
    expect(api.logged.filter((line) => Number(line.level) >= 50)).toEqual([]);
  });
});

describe('a body above the limit', () => {
  const tooMuch = 'x'.repeat(MAX_BODY);
  const small = 'GET /v3/options HTTP/1.1\r\nhost: localhost\r\n\r\n';

  test('is refused by its length, and the connection serves on', async () => {
    const { socket, until } = await open();
    socket.write(head('PUT', '/v3/components/x', [JSON_TYPE, `content-length: ${2 * MAX_BODY}`]));
    expect(await until(/"code"/)).toMatch(/^HTTP\/1\.1 413 [\s\S]*"body_too_large"/);
    socket.write(tooMuch);
    socket.write(tooMuch);
    socket.write(small);
    expect(await until(/default_page_size/)).toMatch(/413 [\s\S]*HTTP\/1\.1 200 /);
    socket.destroy();
  });

  test('is refused without a length as soon as it is too much, and the connection serves on', async () => {
    const { socket, until } = await open();
    socket.write(head('PUT', '/v3/components/x', [JSON_TYPE, 'transfer-encoding: chunked']));
    const chunk = `${tooMuch.length.toString(16)}\r\n${tooMuch}\r\n`;
    socket.write(chunk + chunk);
    expect(await until(/"code"/)).toMatch(/^HTTP\/1\.1 413 /);
    socket.write(`${chunk}0\r\n\r\n${small}`);
    expect(await until(/default_page_size/)).toMatch(/413 [\s\S]*HTTP\/1\.1 200 /);
    socket.destroy();
  });

  test('that never ends is cut off', async () => {
    const { socket, until } = await open();
    socket.write(head('PUT', '/v3/components/x', [JSON_TYPE, 'content-length: 900000']));
    expect(await until(/"code"/)).toMatch(/^HTTP\/1\.1 413 /);
    await once(socket, 'close');
  });
});

describe('forms of requests', () => {
  test('a chunked body without length, and one after 100-continue, are read', async () => {
    const { socket, until } = await open();
    socket.write(head('PUT', '/v3/components/chunked', [JSON_TYPE, 'transfer-encoding: chunked']));
    socket.write('9\r\n{"enabled\r\n7\r\n":true}\r\n0\r\n\r\n');
    expect(await until(/"enabled":true/)).toMatch(/^HTTP\/1\.1 200 /);
    socket.write(head('PUT', '/v3/components/expect', [JSON_TYPE, 'content-length: 17', 'expect: 100-continue']));
    expect(await until(/100 Continue/)).toContain('HTTP/1.1 100 ');
    socket.write('{"enabled":false}');
    expect(await until(/"enabled":false/)).toContain('"id":"expect"');
    socket.destroy();
  });

  test('pipelined requests are answered in order, refusals among them', async () => {
    const { socket, until } = await open();
    const read = (path: string) => head('GET', path);
    const put = head('PUT', '/v3/components/p', [JSON_TYPE, 'content-length: 1']);
    socket.write(`${read('/v3')}${put}{${read('/nothing')}${read('/v3/components/none')}${read('/v3/options')}`);
    const text = await until(/default_page_size/);
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
      '200',
      '400',
      '404',
      '404',
      '200',
    ]);
    socket.destroy();
  });

  test.each(['gzip', 'deflate', 'br', 'GZIP', 'x, y'])('a body in encoding %s is 415', async (encoding) => {
    const answer = await api.call('PUT', '/v3/components/x', {}, { 'content-encoding': encoding });
    expect([answer.status, answer.body.code]).toEqual([415, 'unsupported_media_type']);
    expect(answer.body.detail).toContain(encoding.toLowerCase());
  });

  test('identity is no encoding', async () => {
    expect((await api.call('PUT', '/v3/components/plain', {}, { 'content-encoding': 'identity' })).status).toBe(200);
  });

  test('a body nested 90,000 deep is refused', async () => {
    for (const text of ['['.repeat(90_000), `${'['.repeat(90_000)}${']'.repeat(90_000)}`, '{"tags":'.repeat(20_000)]) {
      expect((await api.call('PUT', '/v3/components', text)).status).toBe(400);
    }
  });
});

describe('slow readers', () => {
  beforeAll(async () => {
    const tags = { text: 'x'.repeat(2_000) };
    for (let start = 0; start < 5_000; start += 50) {
      const batch = Array.from({ length: 50 }, (_, index) => ({ id: `big-${start + index}`, tags }));
      expect((await api.call('PUT', '/v3/components', batch)).status).toBe(200);
    }
  }, 120_000);

  test('of a long list hold neither connections to the database nor the others up, and are given up', async () => {
    const connections = () =>
      new Promise<number>((resolve, reject) =>
        api.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      );
    await answersMeanwhile();
    const before = await connections();
    const slow = await Promise.all(
      Array.from({ length: 15 }, async () => {
        const client = connect(port, '127.0.0.1');
        client.on('error', () => undefined);
        await once(client, 'connect');
        client.pause();
        client.write(head('GET', '/v3/components?limit=5000', ['connection: close']));
        return client;
      }),
    );
    for (let turn = 0; turn < 20; turn++) await answersMeanwhile();
    await eventually('the server has given them up', async () => (await connections()) <= before);
    for (const client of slow) {
      let text = '';
      client.on('data', (piece: Buffer) => {
        text += piece.toString('latin1');
      });
      client.resume();
      if (!client.closed) await once(client, 'close');
      // Cut off in the middle: nobody takes that for a whole answer.
      expect(text).toMatch(/^HTTP\/1\.1 200 /);
      expect(text).not.toContain('"next":');
    }
  });

  test('that read on get everything', async () => {
    const { socket, until } = await open();
    socket.pause();
    socket.write(head('GET', '/v3/components?limit=5000', ['connection: close']));
    const reading = setInterval(() => {
      socket.resume();
      setImmediate(() => socket.pause());
    }, 20);
    const text = await until(/"next":(null|\{)/, 120_000).finally(() => clearInterval(reading));
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    // As many as fit in a page.
    expect(text.match(/"id":"big-/g)?.length).toBeGreaterThan(3_000);
    socket.destroy();
  }, 180_000);
});
