import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

let open: TestApi;
let gateway: TestApi;
let closed: TokenApi;
let modes: { name: string; api: TestApi; headers: Record<string, string> }[];
beforeAll(async () => {
  [open, gateway, closed] = await Promise.all([
    createTestApi({ allowedHosts: ['muster.example'] }),
    createTestApi({ allowedHosts: ['muster.example'], access: { mode: 'none', actorHeader: 'x-user' } }),
    createTokenApi({ allowedHosts: ['muster.example'] }),
  ]);
  modes = [
    { name: 'none', api: open, headers: {} },
    { name: 'gateway', api: gateway, headers: { 'x-user': 'alice' } },
    { name: 'token', api: closed, headers: { authorization: `Bearer ${closed.tokens.admin}` } },
  ];
});
afterAll(() => Promise.all([open.close(), gateway.close(), closed.close()]));

const each = async (work: (api: TestApi, headers: Record<string, string>, name: string) => Promise<void>) => {
  for (const { api, headers, name } of modes) await work(api, headers, name);
};

describe('in every mode, the host', () => {
  test.each([
    ['localhost', 200],
    ['localhost:8100', 200],
    ['localhost.', 200],
    ['LocalHost:1', 200],
    ['a.b.localhost', 200],
    ['127.0.0.1:8100', 200],
    ['127.1.2.3', 200],
    ['[::1]', 200],
    ['[::1]:8100', 200],
    ['muster.example', 200],
    ['Muster.Example.:443', 200],
    // Names that a stranger can point at this machine.
    ['evil.example', 421],
    ['evil.example:8100', 421],
    ['localhost.evil.example', 421],
    ['127.0.0.1.evil.example', 421],
    ['127.0.0.1.nip.io', 421],
    ['muster.example.evil.example', 421],
    ['xmuster.example', 421],
    ['evil.example#.localhost', 421],
    ['evil.example/.localhost', 421],
    ['evil example.localhost', 421],
    ['user@localhost', 421],
    ['localhost@evil.example', 421],
    ['[::1].evil.example', 421],
    ['[::ffff:7f00:1]', 421],
    ['::1', 421],
    ['0.0.0.0', 421],
    ['10.0.0.1', 421],
    ['2130706433', 421],
    ['127.1', 421],
    ['localhost:8100:1', 421],
    ['localhost:x', 421],
    ['[localhost]', 421],
    [' ', 421],
  ])('%j is %i, whatever is forwarded', async (host, status) => {
    await each(async (api, headers) => {
      const forwarded = { 'x-forwarded-host': 'localhost', forwarded: 'host=localhost', 'x-host': 'localhost' };
      const answer = await api.call('GET', '/versions', undefined, { ...headers, ...forwarded, host });
      expect(answer.status).toBe(status);
      if (status === 421) {
        expect(answer.body.code).toBe('host_not_allowed');
        expect((await api.call('GET', '/nothing', undefined, { ...headers, host })).status).toBe(421);
      }
    });
  });
});

describe('in every mode, a write', () => {
  const host = 'localhost:8100';
  test.each<[Record<string, string>, boolean]>([
    [{}, true],
    [{ 'sec-fetch-site': 'same-origin', origin: 'http://localhost:8100' }, true],
    [{ 'sec-fetch-site': 'none' }, true],
    [{ origin: 'http://LOCALHOST:8100' }, true],
    [{ host: 'localhost', origin: 'http://localhost' }, true],
    [{ host: 'localhost:80', origin: 'http://localhost' }, true],
    [{ host: 'muster.example', origin: 'https://muster.example' }, true],
    [{ host: 'muster.example:443', origin: 'https://muster.example' }, true],
    [{ host: '[::1]:8100', origin: 'http://[::1]:8100' }, true],
    [{ origin: 'null' }, false],
    [{ origin: '' }, false],
    [{ origin: 'http://evil.example' }, false],
    [{ origin: 'http://localhost' }, false],
    [{ origin: 'http://localhost:8101' }, false],
    [{ origin: 'http://127.0.0.1:8100' }, false],
    [{ origin: 'http://localhost:8100.evil.example' }, false],
    [{ origin: 'http://localhost:8100@evil.example' }, false],
    [{ origin: 'http://localhost:8100 http://evil.example' }, false],
    [{ origin: 'http://evil.example, http://localhost:8100' }, false],
    [{ origin: 'file://' }, false],
    [{ origin: 'chrome-extension://localhost:8100' }, false],
    [{ origin: 'muster.example', host: 'muster.example' }, false],
    [{ 'sec-fetch-site': 'cross-site' }, false],
    [{ 'sec-fetch-site': 'same-site' }, false],
    [{ 'sec-fetch-site': 'same-site', origin: 'http://localhost:8100' }, false],
    [{ 'sec-fetch-site': 'Same-Origin' }, false],
    [{ 'sec-fetch-site': '' }, false],
    [{ 'sec-fetch-site': 'cross-site', 'x-http-method-override': 'GET' }, false],
    [{ 'sec-fetch-site': 'none', origin: 'http://evil.example' }, false],
  ])('with %j is let through: %s', async (fetched, let_through) => {
    await each(async (api, headers) => {
      const requests = [
        ['PATCH', '/v3/options', {}],
        ['PUT', '/apis/cfs/v3/components/x', {}],
        ['DELETE', '/v3/sessions/none', undefined],
        ['POST', '/api/v1/sessions/none/cancel', undefined],
        ['POST', '/nothing', {}],
      ] as const;
      for (const [method, path, body] of requests) {
        const answer = await api.call(method, path, body, { ...headers, host, ...fetched });
        if (let_through) expect([200, 204, 404]).toContain(answer.status);
        else expect(answer.body).toMatchObject({ status: 403, code: 'cross_site' });
      }
    });
  });

  test('is refused for its site before its token is looked at', async () => {
    const answer = await closed.call('PATCH', '/v3/options', {}, { origin: 'http://evil.example' });
    expect(answer.body.code).toBe('cross_site');
  });
});

describe('in every mode, an answer', () => {
  test('allows no other origin to read, embed or frame it', async () => {
    await each(async (api, headers) => {
      for (const [method, path] of [
        ['GET', '/v3/components'],
        ['GET', '/docs/'],
        ['GET', '/openapi.json'],
        ['GET', '/nothing'],
        ['OPTIONS', '/v3/components'],
        ['PATCH', '/v3/options'],
      ] as const) {
        const preflight = {
          'access-control-request-method': 'PATCH',
          'access-control-request-headers': 'authorization',
        };
        const answer = await api.call(method, path, undefined, {
          ...headers,
          ...preflight,
          origin: 'http://evil.example',
        });
        expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
        expect(answer.headers).toMatchObject({
          'x-content-type-options': 'nosniff',
          'cross-origin-resource-policy': 'same-origin',
          'x-frame-options': 'DENY',
        });
        expect(answer.headers['set-cookie']).toBeUndefined();
      }
    });
  });

  test('to a read changes nothing, whatever site asks', async () => {
    await each(async (api, headers) => {
      const rows = async () => {
        const { db } = api.database;
        return Promise.all([
          db.selectFrom('components').selectAll().execute(),
          db.selectFrom('sessions').selectAll().execute(),
          db.selectFrom('configurations').selectAll().execute(),
          db.selectFrom('sources').selectAll().execute(),
          db.selectFrom('outbox').selectAll().execute(),
        ]);
      };
      const before = await rows();
      const reads = new Set(
        api.app.declaredRoutes.filter(({ method }) => method === 'GET').map(({ url }) => url.replace(/:[a-z_]+/g, 'x')),
      );
      expect(reads.size).toBeGreaterThan(40);
      for (const url of reads) {
        await api.call('GET', url, undefined, {
          ...headers,
          'sec-fetch-site': 'cross-site',
          origin: 'http://evil.example',
        });
      }
      expect(await rows()).toEqual(before);
    });
  });
});

test('there is no other way in: an upgrade to a WebSocket is a plain request', async () => {
  await open.app.listen({ host: '127.0.0.1', port: 0 });
  const address = open.app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(
        'GET /versions HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n' +
          'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n',
      ),
    );
    socket.once('data', (chunk) => {
      resolve(chunk.toString());
      socket.destroy();
    });
    socket.on('error', reject);
  });
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
});
