import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { committedRoutes } from '../support/route-lines.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

let api: TokenApi;
beforeAll(async () => {
  api = await createTokenApi();
});
afterAll(() => api.close());

const ROLES = ['admin', 'operator', 'reader', 'node'] as const;
const MAY: Record<string, readonly string[]> = {
  reader: ['admin', 'operator', 'reader'],
  operator: ['admin', 'operator'],
  admin: ['admin'],
};
/** The committed list of routes: what a role may is not read from the declarations that are tried. */
const ROUTES = committedRoutes().map(({ method, path, least }) => [method, path, least] as const);
const CLOSED = ROUTES.filter(([, , least]) => least !== 'public');

test('the list has all roles and many routes', () => {
  expect(new Set(ROUTES.map(([, , least]) => least))).toEqual(new Set(['public', 'reader', 'operator', 'admin']));
  expect(CLOSED.length).toBeGreaterThan(100);
});

test('names of members of objects are no paths', async () => {
  for (const path of ['/constructor', '/__proto__', '/v3/toString']) {
    expect((await api.call('GET', path)).status).toBe(401);
    expect((await api.as(api.tokens.reader, 'GET', path)).status).toBe(404);
  }
});

/** A path of the list; its parameters name nothing that exists. */
const pathOf = (path: string) => path.replace(/:[a-z_]+/g, 'nothing').replace('*', 'index.html');
/** A body that no route takes, so that a request that is let in changes nothing. */
const send = (method: string, path: string, token?: string) => {
  const body = method === 'GET' || method === 'DELETE' ? undefined : { no_such_member: 1 };
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return api.call(method, path, body, headers);
};

describe.each(ROUTES.filter(([, , least]) => least === 'public'))('%s %s', (method, path) => {
  test('needs no token, and does not mind a wrong one', async () => {
    for (const token of [undefined, 'nonsense', api.tokens.node]) {
      // 400: a sign-in without a token; 503: the page of a server without built files.
      expect([200, 204, 301, 302, 308, 400, 404, 503]).toContain((await send(method, pathOf(path), token)).status);
    }
  });
});

describe.each(CLOSED)('%s %s', (method, path, least) => {
  test('is 401 without a token, in every prefix, and says how to come in', async () => {
    const prefixes = path.startsWith('/api/') ? [''] : ['', '/apis/cfs'];
    for (const prefix of prefixes) {
      const answer = await send(method, prefix + pathOf(path));
      expect(answer.body).toMatchObject({ status: 401, code: 'unauthenticated', title: 'Unauthorized' });
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="muster"');
      expect(answer.headers['content-type']).toBe('application/problem+json');
    }
  });

  test.each(ROLES)(`answers the role %s as ${least} is needed`, async (role) => {
    const answer = await send(method, pathOf(path), api.tokens[role]);
    if (MAY[least]?.includes(role)) {
      expect([200, 202, 204, 308, 400, 404, 406, 415, 422, 501]).toContain(answer.status);
      expect(answer.body?.code).not.toBe('forbidden');
    } else {
      expect(answer.body).toMatchObject({ status: 403, code: 'forbidden', title: 'Forbidden' });
    }
  });

  if (method === 'GET') {
    test('treats HEAD as GET', async () => {
      expect((await send('HEAD', pathOf(path))).status).toBe(401);
      expect((await send('HEAD', pathOf(path), api.tokens.admin)).status).not.toBe(403);
    });
  }
});

describe('what is not there', () => {
  test.each([
    '/v3/nothing',
    '/nothing',
    '/apis/cfs/v3/components/a/b',
    '/v3/components/',
    '/api/v1',
    '/api/v1/tokens/a/b',
  ])('%s is 401 to strangers and 404 to whoever is known', async (path) => {
    expect((await api.call('GET', path)).status).toBe(401);
    for (const role of ROLES) expect((await api.as(api.tokens[role], 'GET', path)).status).toBe(404);
  });
  test.each([
    ['POST', '/v3/options'],
    ['TRACE', '/v3/components'],
    ['TRACE', '/healthz'],
  ])('%s %s is 401 to strangers and 405 to whoever is known', async (method, path) => {
    expect((await api.call(method, path)).status).toBe(401);
    expect((await api.as(api.tokens.reader, method, path)).status).toBe(405);
  });
  test('a stranger does not learn whether query, type or body would be right', async () => {
    expect((await api.call('GET', '/v3/components?limit=x')).status).toBe(401);
    expect((await api.call('PUT', '/v3/components/x', '{', { 'content-type': 'text/plain' })).status).toBe(401);
    expect((await api.as(api.tokens.reader, 'PUT', '/v3/components/x', '{')).status).toBe(403);
  });
  test('a path that cannot be decoded is refused without a word about routes', async () => {
    expect([400, 401]).toContain((await api.call('GET', '/v3/components/%zz')).status);
  });
});
