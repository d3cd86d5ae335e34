import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

interface Asked {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

/** A stand-in for Temporal's web UI: remembers what it is asked, and would let any page read its answers. */
let ui: Server;
let upstream: string;
const asked: Asked[] = [];

beforeAll(async () => {
  ui = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    asked.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
    response.writeHead(200, {
      'content-type': 'text/html',
      'access-control-allow-origin': '*',
      'x-frame-options': 'SAMEORIGIN',
      'set-cookie': '_csrf=abc; Path=/; SameSite=Strict',
    });
    response.end('<title>Temporal</title>');
  });
  await once(ui.listen(0, '127.0.0.1'), 'listening');
  upstream = `http://127.0.0.1:${(ui.address() as AddressInfo).port}/temporal`;
});
afterAll(() => {
  ui.closeAllConnections();
  ui.close();
});
beforeEach(() => {
  asked.splice(0);
});

const TERMINATE = '/temporal/api/v1/namespaces/default/workflows/session%2Fa%2Fb/terminate';

describe('where access is not checked', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi({ temporalUiUpstream: upstream });
  });
  afterAll(() => api.close());

  test("a workflow's page is handed on as it is asked for, and no other page may read or frame it", async () => {
    const path = '/temporal/namespaces/default/workflows/session%2Fa%2Fb?tab=history';
    const headers = { 'user-agent': 'Mozilla/5.0', 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' };
    const answer = await api.call('GET', path, undefined, headers);
    expect([answer.status, answer.body]).toEqual([200, '<title>Temporal</title>']);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    expect(answer.headers['x-frame-options']).toBe('DENY');
    expect(answer.headers['set-cookie']).toEqual(['_csrf=abc; Path=/; SameSite=Strict']);
    expect(asked).toMatchObject([{ method: 'GET', url: path }]);
    expect((await api.call('GET', '/temporal')).headers.location).toBe('temporal/');
  });

  test('a change is handed on with its body, and without what is for the API alone', async () => {
    const headers = {
      host: '127.0.0.1:8100',
      origin: 'http://127.0.0.1:8100',
      authorization: 'Bearer secret',
      'x-csrf-token': 'abc',
      cookie: '_csrf=abc',
    };
    expect((await api.call('POST', TERMINATE, { reason: 'stuck' }, headers)).status).toBe(200);
    expect(asked).toMatchObject([
      {
        method: 'POST',
        url: TERMINATE,
        body: '{"reason":"stuck"}',
        headers: { 'x-csrf-token': 'abc', cookie: '_csrf=abc' },
      },
    ]);
    expect(asked[0]?.headers).not.toHaveProperty('authorization');
    expect(asked[0]?.headers).not.toHaveProperty('origin');
  });

  test.each([
    ['a page that gave its own name this address', 'GET', { host: 'evil.example:8100' }, 'host_not_allowed'],
    ['a change from such a page', 'POST', { host: 'evil.example', origin: 'http://evil.example' }, 'host_not_allowed'],
    ['a change from a page of another site', 'POST', { origin: 'http://evil.example' }, 'cross_site'],
    ['a change that a browser calls foreign', 'POST', { 'sec-fetch-site': 'cross-site' }, 'cross_site'],
  ])('%s is refused', async (_, method, headers, code) => {
    const answer = await api.call(method, TERMINATE, undefined, headers as unknown as Record<string, string>);
    expect(answer.body.code).toBe(code);
    expect(asked).toEqual([]);
  });

  test('one that is away is a 503 that says so', async () => {
    const away = await createTestApi({ temporalUiUpstream: 'http://127.0.0.1:9/temporal' });
    const answer = await away.call('GET', '/temporal/');
    expect([answer.status, answer.body.code]).toEqual([503, 'engine_unavailable']);
    await away.close();
  });

  test('there is no such path where no web UI is handed on', async () => {
    const other = await createTestApi();
    expect((await other.call('GET', '/temporal/')).status).toBe(404);
    await other.close();
  });
});

describe('where access is checked', () => {
  let api: TokenApi;
  beforeAll(async () => {
    api = await createTokenApi({ temporalUiUpstream: upstream });
  });
  afterAll(() => api.close());

  test('a bearer is needed: readers look, operators change', async () => {
    expect((await api.call('GET', '/temporal/')).status).toBe(401);
    expect((await api.call('GET', '/temporal/_app/start.js')).status).toBe(401);
    expect((await api.as(api.tokens.node, 'GET', '/temporal/')).status).toBe(403);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect((await api.as(api.tokens.reader, method, TERMINATE, {})).status).toBe(403);
    }
    expect(asked).toEqual([]);
    expect((await api.as(api.tokens.reader, 'GET', '/temporal/')).status).toBe(200);
    expect((await api.as(api.tokens.operator, 'POST', TERMINATE, {})).status).toBe(200);
    expect(asked.map(({ method }) => method)).toEqual(['GET', 'POST']);
    expect(JSON.stringify(asked)).not.toContain(api.tokens.operator);
  });
});
