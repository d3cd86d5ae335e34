import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi({ maxBody: 200_000 });
});
afterAll(() => api.close());

function problem(
  answer: { status: number; body: unknown; headers: Record<string, unknown> },
  status: number,
  title: string,
) {
  expect(answer.headers['content-type']).toBe('application/problem+json');
  expect(answer.body).toEqual({
    type: 'about:blank',
    title,
    status,
    detail: expect.any(String),
    code: expect.any(String),
  });
  expect(answer.status).toBe(status);
}

describe('paths and methods', () => {
  test.each([
    '/v3/components/',
    '/v3/nothing',
    '/v2/versions',
    '/v3/versions',
    '/v3/sources/',
    '/apis/cfs/api/v1/status',
    '/apis/v3/options',
    '//v3/options',
    '/V3/options',
    '/v3/components//x',
    '/v3/configurations/a/b',
    '/api/v1',
    '/apis/cfs/api/v1/docs',
  ])('%s is 404', async (path) => problem(await api.call('GET', path), 404, 'Not Found'));

  test.each([
    ['POST', '/v3/components', 'GET, HEAD, PATCH, PUT'],
    ['DELETE', '/v3/components', 'GET, HEAD, PATCH, PUT'],
    ['POST', '/v3/components/x', 'DELETE, GET, HEAD, PATCH, PUT'],
    ['PUT', '/v3/options', 'GET, HEAD, PATCH'],
    ['PUT', '/v3/sources/x', 'DELETE, GET, HEAD, PATCH, POST'],
    ['TRACE', '/v3/options', 'GET, HEAD, PATCH'],
    ['DELETE', '/apis/cfs/v3/configurations', 'GET, HEAD'],
    ['POST', '/', 'GET, HEAD'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['POST', '/api/v1/secrets/a/b', 'DELETE, PUT'],
  ])('%s %s is 405', async (method, path, allow) => {
    const answer = await api.call(method, path);
    problem(answer, 405, 'Method Not Allowed');
    expect(answer.headers.allow).toBe(allow);
  });

  test.each(['/', '/versions', '/v2', '/v3', '/apis/cfs', '/apis/cfs/', '/apis/cfs/versions', '/apis/cfs/v3'])(
    '%s is the version record, for GET and HEAD',
    async (path) => {
      const answer = await api.call('GET', path);
      expect([answer.status, answer.body]).toEqual([200, { major: '1', minor: '31', patch: '1' }]);
      expect(answer.headers['content-type']).toBe('application/json');
      const head = await api.call('HEAD', path);
      expect([head.status, head.body]).toEqual([200, '']);
    },
  );

  test.each([
    '/v3/components/a%00b',
    '/v3/configurations/%00',
    '/v3/sources/%2500',
    '/v3/components/%zz',
    '/v3/components/%ff',
    '/v3/components/%',
  ])('%s is refused as unreadable', async (path) => problem(await api.call('GET', path), 400, 'Bad Request'));

  test('an encoded slash is part of an id', async () => {
    problem(await api.call('GET', '/v3/components/a%2Fb'), 404, 'Component not found.');
    problem(await api.call('GET', `/v3/components/${'x'.repeat(20_000)}`), 404, 'Component not found.');
  });
});

describe('bodies', () => {
  test.each([
    ['PUT', '/v3/components/x'],
    ['PATCH', '/v3/components/x'],
    ['PUT', '/v3/components'],
    ['PATCH', '/v3/components'],
    ['PUT', '/v3/configurations/x'],
    ['POST', '/v3/sources'],
    ['PATCH', '/v3/sources/x'],
    ['POST', '/v3/sources/x'],
    ['PATCH', '/v3/options'],
    ['PUT', '/api/v1/secrets/a/b'],
  ])('%s %s demands JSON', async (method, path) => {
    problem(await api.call(method, path), 415, 'Unsupported Media Type');
    const plain = await api.call(method, path, '{}', { 'content-type': 'text/plain' });
    problem(plain, 415, 'Unsupported Media Type');
    expect(plain.body.detail).toContain('text/plain');
    problem(await api.call(method, path, '{}', { 'content-type': 'application/jsonp' }), 415, 'Unsupported Media Type');
    for (const text of ['{', '', 'nope', '{"a":1}}', '\uFFFE{}']) {
      const answer = await api.call(method, path, text, { 'content-type': 'Application/JSON; charset=utf-8' });
      problem(answer, 400, 'Bad Request');
      if (text === '') expect(answer.body.detail).toMatch(/^An absent body: is not of type '(object|array)'$/);
      else expect(answer.body.detail).toBe('Request body is not valid JSON');
    }
    for (const body of [null, 7, 'text', true])
      problem(await api.call(method, path, JSON.stringify(body)), 400, 'Bad Request');
  });

  test('invalid UTF-8 is not JSON', async () => {
    const headers = { 'content-type': 'application/json' };
    const payload = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]);
    const answer = await api.app.inject({ method: 'PATCH', url: '/v3/options', headers, payload });
    expect([answer.statusCode, answer.json().detail]).toEqual([400, 'Request body is not valid JSON']);
  });

  test('a body above the limit is 413', async () => {
    const answer = await api.call('PUT', '/v3/components/x', { tags: { a: 'x'.repeat(300_000) } });
    problem(answer, 413, 'Payload Too Large');
  });

  test('query before body, JSON before schema', async () => {
    const query = await api.call('PUT', '/v3/configurations/x?drop_branches=1', '{');
    expect(query.body.detail).toBe("Wrong type, expected 'boolean' for query parameter 'drop_branches'");
    const path = await api.call('PUT', `/v3/configurations/${'x'.repeat(61)}`, '{');
    expect(path.body.detail).toContain('configuration_id');
  });

  test.each([
    [{ enabled: null }, "'enabled'"],
    [{ error_count: '10' }, "'10': is not of type 'integer' - 'error_count'"],
    [{ tags: { a: 1 } }, "'tags.a'"],
    [{ state: [{}] }, "'state.0'"],
    [
      {
        state: [
          { clone_url: 'u', playbook: 'p', commit: 'c', status: 'applied', session_name: 's', last_updated: 'x' },
        ],
      },
      "Property is read-only - 'state.0.last_updated'",
    ],
    [
      { state: [{ clone_url: 'u', playbook: 'p', commit: 'c', status: 'incomplete', session_name: 's' }] },
      "'state.0.status'",
    ],
    [{ configuration_status: 'failed' }, "Property is read-only - 'configuration_status'"],
    [{ desired_state: [] }, "Property is read-only - 'desired_state'"],
    [{ logs: '' }, "Property is read-only - 'logs'"],
    [{ desired_config: 'x'.repeat(61) }, "'desired_config'"],
    [{ tags: { a: 'x\u0000' } }, "'tags.a'"],
    [{ tags: { a: '\ud800' } }, "'tags.a'"],
    [{ tags: { '\u0000': 'x' } }, "'tags'"],
  ])('%j is 400 and names the field', async (body, named) => {
    const answer = await api.call('PUT', '/v3/components/x', body);
    problem(answer, 400, 'Bad Request');
    expect(answer.body.detail).toContain(named);
  });

  test('a number with fraction is no integer, and a secret one is not shown', async () => {
    const answer = await api.call('PUT', '/v3/components/x', '{"error_count":10.0}');
    expect(answer.body.detail).toBe("10 with a fraction or exponent: is not of type 'integer' - 'error_count'");
    const secret = await api.call('PUT', '/api/v1/secrets/a/b', '{"value":31337.0}');
    problem(secret, 400, 'Bad Request');
    expect(secret.body.detail).not.toContain('31337');
  });

  test('an unknown property at the top has no field suffix', async () => {
    const answer = await api.call('PUT', '/v3/components/x', { nope: 1 });
    problem(answer, 400, 'Bad Request');
    expect(answer.body.detail).toMatch(/^unknown member 'nope' \(known: /);
  });

  test.each([
    '{"__proto__":{"enabled":true}}',
    '{"tags":{"__proto__":"x"}}',
    '{"constructor":{"prototype":1}}',
    '{"tags":{"\\u005f_proto__":"x"}}',
  ])('the key of %s does no harm', async (text) =>
    problem(await api.call('PUT', '/v3/components/x', text), 400, 'Bad Request'),
  );

  test('names of object members are plain data in tags', async () => {
    const tags = { constructor: 'a', toString: 'b', hasOwnProperty: 'c' };
    expect((await api.call('PUT', '/v3/components/odd', { tags })).body.tags).toEqual(tags);
    expect((await api.call('GET', '/v3/components?tags=constructor=a')).body.components).toHaveLength(1);
    expect((await api.call('DELETE', '/v3/components/odd')).status).toBe(204);
  });

  test('deep nesting is refused, not a crash', async () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    problem(await api.call('PUT', '/v3/components', deep), 400, 'Bad Request');
    problem(
      await api.call('PUT', '/v3/components/x', `{"tags":${deep.replace('[]', '["\\u0000"]')}}`),
      400,
      'Bad Request',
    );
  });

  test('a route without body ignores whatever comes', async () => {
    for (const headers of [{ 'content-type': 'text/xml' }, { 'content-type': 'garbage' }, { 'content-type': '' }]) {
      problem(await api.call('PATCH', '/v3/configurations/none', '<x/>', headers), 404, 'Configuration not found');
      problem(await api.call('DELETE', '/v3/components/none', '<x/>', headers), 404, 'Component not found.');
    }
  });
});

describe('query parameters', () => {
  test.each([
    ['enabled=1', "Wrong type, expected 'boolean' for query parameter 'enabled'"],
    ['enabled=', "Wrong type, expected 'boolean' for query parameter 'enabled'"],
    ['state_details=yes', "Wrong type, expected 'boolean' for query parameter 'state_details'"],
    ['limit=', "Wrong type, expected 'integer' for query parameter 'limit'"],
    ['limit=ten', "Wrong type, expected 'integer' for query parameter 'limit'"],
    ['limit=1.0', "Wrong type, expected 'integer' for query parameter 'limit'"],
    ['limit=0x10', "Wrong type, expected 'integer' for query parameter 'limit'"],
    ['limit=0', 'limit'],
    ['limit=-1', 'limit'],
    ['status=pending,failed', 'status'],
    ['status=Pending', 'status'],
    ['after_id=%00', 'after_id'],
    ['ids=a%00', 'ids'],
  ])('?%s is 400', async (query, detail) => {
    const answer = await api.call('GET', `/v3/components?${query}`);
    problem(answer, 400, 'Bad Request');
    expect(answer.body.detail).toContain(detail);
  });

  test.each([
    'enabled=TRUE',
    'enabled=fAlse',
    'nonsense=1&also',
    'limit=99999999999999999999',
    'ids=&status=&config_name=&tags=&after_id=',
    'status=nonsense&status=failed',
    'limit=x&limit=5',
    '__proto__=x',
    'ids=%ff%zz',
    'constructor=1',
  ])('?%s is 200', async (query) => expect((await api.call('GET', `/v3/components?${query}`)).status).toBe(200));

  test('of a repeated parameter the last wins', async () => {
    await api.call('PUT', '/v3/components', [{ id: 'a' }, { id: 'b' }]);
    const answer = await api.call('GET', '/v3/components?ids=a&ids=b');
    expect(answer.body.components.map((one: { id: string }) => one.id)).toEqual(['b']);
  });

  test.each(['', 'a', 'a=b,c', 'a=b=c', 'a=b,'])('tags=%s', async (tags) => {
    const answer = await api.call('GET', `/v3/components?tags=${encodeURIComponent(tags)}`);
    if (tags === '') expect(answer.status).toBe(200);
    else problem(answer, 400, 'Error parsing the tags provided.');
  });
});

describe('who may ask', () => {
  test.each(['localhost', 'LOCALHOST:8100', '127.0.0.1:1', '[::1]:8100', 'muster.localhost', 'localhost.'])(
    'host %s is answered',
    async (host) => expect((await api.call('GET', '/', undefined, { host })).status).toBe(200),
  );

  test.each(['evil.example', 'localhost.evil.example', '10.1.2.3', '127.0.0.1.evil.example'])(
    'host %s is refused, on unknown paths too',
    async (host) => {
      for (const path of ['/', '/nothing']) {
        const answer = await api.call('GET', path, undefined, { host });
        problem(answer, 421, 'Misdirected Request');
        expect(answer.body.code).toBe('host_not_allowed');
      }
    },
  );

  test('listed hosts are answered', async () => {
    const other = await createTestApi({ allowedHosts: ['Muster.Example'] });
    expect((await other.call('GET', '/', undefined, { host: 'muster.example:443' })).status).toBe(200);
    await other.close();
  });

  test.each<[Record<string, string>, number]>([
    [{ origin: 'http://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'http://localhost:9999', host: 'localhost:8100' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ origin: 'http://localhost:8100', host: 'localhost:8100', 'sec-fetch-site': 'same-origin' }, 200],
    [{ 'sec-fetch-site': 'none' }, 200],
    [{ authorization: 'Bearer something' }, 200],
  ])('a write with %j is %i', async (headers, status) => {
    const answer = await api.call('PATCH', '/v3/options', {}, headers);
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.body.code).toBe('cross_site');
    expect((await api.call('GET', '/v3/options', undefined, headers)).status).toBe(200);
  });

  test('no answer allows other origins', async () => {
    const answer = await api.call('GET', '/', undefined, { origin: 'http://evil.example' });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('the log', () => {
  test('has one line a request, without query, body or headers', async () => {
    api.logged.length = 0;
    const answer = await api.call(
      'PUT',
      '/v3/components/logged?token=secret1',
      { tags: { a: 'secret2' } },
      {
        authorization: 'Bearer secret3',
        'x-request-id': 'abc-1',
      },
    );
    expect(answer.headers['x-request-id']).toBe('abc-1');
    const lines = api.logged.filter((line) => line.msg === 'request');
    expect(lines).toEqual([
      expect.objectContaining({ method: 'PUT', path: '/v3/components/logged', status: 200, request: 'abc-1' }),
    ]);
    expect(JSON.stringify(api.logged)).not.toMatch(/secret[123]/);
  });

  test('follows logging_level at the next request', async () => {
    await api.call('PATCH', '/v3/options', { logging_level: 'ERROR' });
    api.logged.length = 0;
    await api.call('GET', '/');
    expect(api.logged).toEqual([]);
    await api.call('PATCH', '/v3/options', { logging_level: 'DEBUG' });
    await api.call('GET', '/');
    expect(api.logged.length).toBeGreaterThan(0);
  });
});
