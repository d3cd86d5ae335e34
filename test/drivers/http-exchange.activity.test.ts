import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { askJson } from '../../drivers/http/ask-json.ts';
import { exchange, LateAnswer, type Limits, toTarget } from '../../drivers/http/exchange.ts';
import { freePort } from '../support/free-port.ts';

let server: Server;
let port: number;
let url: string;
let asked: string[];
let answer: RequestListener;

beforeEach(async () => {
  asked = [];
  answer = (_request, response) => void response.end('{}');
  server = createServer((request, response) => {
    asked.push(String(request.url));
    answer(request, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ({ port } = server.address() as AddressInfo);
  url = `http://127.0.0.1:${port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const whole: Limits = { withinMs: 60_000, mostBytes: () => Number.POSITIVE_INFINITY };
const get = (limits: Partial<Limits> = {}, path = '/') =>
  exchange(toTarget({ url: `${url}${path}` }), { ...whole, ...limits });

test.each([301, 302, 303, 307, 308])(
  'a redirect with %i is an answer like others: nothing follows it',
  async (status) => {
    answer = (_request, response) => void response.writeHead(status, { location: '/other' }).end('moved');
    const { headers, bytes, ...rest } = await get();
    expect([rest, headers.location, bytes.toString()]).toEqual([{ status, isCut: false }, '/other', 'moved']);
    expect(asked).toEqual(['/']);
  },
);

test('user and password of an address are sent, and each request has a connection of its own', async () => {
  const seen: unknown[] = [];
  const ports = new Set<unknown>();
  answer = (request, response) => {
    seen.push(request.headers.authorization);
    ports.add(request.socket.remotePort);
    response.end();
  };
  const options = toTarget({ url: url.replace('//', '//me:s%40cret@') });
  for (let time = 0; time < 2; time += 1) await exchange(options, whole);
  expect(seen).toEqual(Array(2).fill(`Basic ${Buffer.from('me:s@cret').toString('base64')}`));
  expect(ports.size).toBe(2);
});

describe('of the body of an answer', () => {
  test.each([
    [10, 10, false],
    [9, 10, false],
    [11, 10, true],
    [1_000_000, 10, true],
    [0, 10, false],
  ])('%i bytes are read up to %i, and it is told that more was there: %s', async (length, most, isCut) => {
    answer = (_request, response) => void response.end('x'.repeat(length));
    const { bytes, ...rest } = await get({ mostBytes: () => most });
    expect([bytes.length, rest.isCut]).toEqual([Math.min(length, most), isCut]);
  });

  test.each([0, 100_000])('that has no end, at most %i bytes are read and its connection goes', async (most) => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    answer = (_request, response) => {
      response.on('close', resolve);
      response.on('error', () => undefined);
      const more = () => void response.write(Buffer.alloc(16 * 1024), () => setImmediate(more));
      more();
    };
    const { bytes, isCut } = await get({ mostBytes: () => most });
    expect([bytes.length, isCut]).toEqual([most, true]);
    await closed;
  });

  test('what the caller may read depends on the status', async () => {
    answer = (request, response) => void response.writeHead(request.url === '/' ? 200 : 500).end('0123456789');
    const mostBytes = (status: number) => (status === 200 ? 10 : 2);
    expect((await get({ mostBytes })).bytes.toString()).toBe('0123456789');
    expect((await get({ mostBytes }, '/broken')).bytes.toString()).toBe('01');
  });

  test('JSON beyond the limit is refused, not cut', async () => {
    answer = (_request, response) => void response.end(JSON.stringify('x'.repeat(100)));
    const ask = (answerMax: number) => askJson({ method: 'GET', url, timeoutMs: 60_000, answerMax });
    expect((await ask(102)).text).toHaveLength(102);
    await expect(ask(101)).rejects.toThrow('an answer of more than 101 bytes');
  });
});

describe('an answer is late', () => {
  test.each<[string, RequestListener]>([
    ['that does not begin', () => undefined],
    ['that stops', (_request, response) => void response.writeHead(200).write('begun')],
    [
      'that trickles',
      (_request, response) => {
        const timer = setInterval(() => response.write(' '), 10);
        response.on('close', () => clearInterval(timer));
      },
    ],
  ])('%s', async (_what, behave) => {
    answer = behave;
    const error = await get({ withinMs: 200 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LateAnswer);
    expect(error).toMatchObject({ message: 'no answer within 0.2 s' });
  });

  test('while the name is still looked up', async () => {
    const options = { ...toTarget({ url }), hostname: 'slow.invalid', lookup: () => undefined };
    await expect(exchange(options, { ...whole, withinMs: 100 })).rejects.toThrow(LateAnswer);
    expect(asked).toEqual([]);
  });

  test('when nothing comes for so long, however long it may take in all', async () => {
    answer = (_request, response) => void response.writeHead(200).write('begun');
    await expect(get({ withinMs: undefined, idleMs: 100 })).rejects.toThrow('nothing came for 0.1 s');
    answer = (_request, response) => {
      let left = 10;
      const timer = setInterval(() => {
        if (left-- > 0) return response.write('x');
        clearInterval(timer);
        response.end();
      }, 400);
    };
    expect((await get({ withinMs: undefined, idleMs: 3_000 })).bytes.toString()).toBe('x'.repeat(10));
  });
});

test.each([
  ['before it begins', 0],
  ['while it waits', 50],
])('a caller ends it %s, with a reason of its own', async (_when, ms) => {
  answer = () => undefined;
  const reason = new Error('the session is over');
  const signal =
    ms === 0 ? AbortSignal.abort(reason) : AbortSignal.any([AbortSignal.timeout(60_000), abortedAfter(ms, reason)]);
  await expect(get({ signal })).rejects.toBe(reason);
});

describe('the rule for addresses', () => {
  const refusal = new Error('not there');
  const refuse = () => {
    throw refusal;
  };

  test.each(['127.0.0.1', '[::1]', '2130706433', '0x7f.1'])('judges %s, which needs no look-up', (host) => {
    expect(() => toTarget({ url: `http://${host}/`, checkAddress: refuse })).toThrow(refusal);
  });

  test('judges all addresses of a name before a byte is sent', async () => {
    const seen: string[] = [];
    const checkAddress = (address: string) => {
      seen.push(address);
      throw refusal;
    };
    const options = toTarget({ url: `http://localhost:${port}/`, checkAddress });
    await expect(exchange(options, whole)).rejects.toBe(refusal);
    expect(seen.join()).toMatch(/^(127[.]0[.]0[.]1|::1)$/);
    expect(asked).toEqual([]);
  });

  test('judges anew for each connection', async () => {
    let isAllowed = true;
    const options = toTarget({ url: `http://localhost:${port}/`, checkAddress: () => void (isAllowed || refuse()) });
    expect((await exchange(options, whole)).status).toBe(200);
    isAllowed = false;
    await expect(exchange(options, whole)).rejects.toBe(refusal);
    expect(asked).toEqual(['/']);
  });
});

test('a connection that is refused is told in words, also by a name of several addresses', async () => {
  const closed = await freePort();
  for (const host of ['127.0.0.1', 'localhost']) {
    const failed = exchange(toTarget({ url: `http://${host}:${closed}/` }), whole);
    await expect(failed).rejects.toThrow(/ECONNREFUSED/);
  }
});

test('an answer that breaks off is no answer', async () => {
  answer = (_request, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"name":', () => response.socket?.destroy());
  };
  const error = await get().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Error);
  expect(error).not.toBeInstanceOf(LateAnswer);
});

function abortedAfter(ms: number, reason: Error): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), ms);
  return controller.signal;
}
