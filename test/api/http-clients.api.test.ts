/** What balancers, monitors, scripts and generated clients send. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CfsOptionsSchema, OWN_OPTIONS } from '../../domain/configurations/schema.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

let api: TokenApi;
let port = 0;
beforeAll(async () => {
  api = await createTokenApi();
  await api.app.listen({ port: 0, host: '127.0.0.1' });
  port = (api.app.server.address() as { port: number }).port;
});
afterAll(() => api.close());

/** The head of the answer to these bytes. */
function raw(lines: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(`${lines.join('\r\n')}\r\n\r\n`));
    socket.on('error', reject).on('data', (piece) => {
      answer += piece.toString();
      if (answer.includes('\r\n\r\n')) {
        socket.destroy();
        resolve(answer.slice(0, answer.indexOf('\r\n\r\n')));
      }
    });
  });
}
const status = async (...lines: string[]) => Number((await raw(lines)).split(' ')[1]);
const admin = (method: 'GET' | 'PATCH' | 'POST' | 'PUT', path: string, body?: unknown) =>
  api.as(api.tokens.admin, method, path, body);

describe('the Host header', () => {
  test.each(['/healthz', '/livez', '/readyz', '/apis/cfs/healthz'])('%s needs none in HTTP/1.0', async (path) => {
    expect(await status(`GET ${path} HTTP/1.0`)).toBe(200);
    expect(await status(`HEAD ${path} HTTP/1.0`)).toBe(200);
    expect(await status(`GET ${path}?x=1 HTTP/1.0`)).toBe(200);
    expect(await status(`GET ${path} HTTP/1.0`, 'Host: evil.example')).toBe(421);
  });
  test('is needed elsewhere, and once', async () => {
    expect(await status('GET /v3/components HTTP/1.0')).toBe(400);
    expect(await status('GET /nowhere/healthz HTTP/1.0')).toBe(400);
    const twice = ['Host: localhost', 'host: localhost', 'Connection: close'];
    expect(await status('GET /healthz HTTP/1.1', ...twice)).toBe(400);
  });
});

test.each(['/v3/components', '/v2/sessions/x', '/apis/cfs/v3/options', '/api/v1/audit', '/healthz'])(
  'OPTIONS %s is 204 with Allow, without a token and without CORS',
  async (path) => {
    const answer = await api.app.inject({
      method: 'OPTIONS',
      url: path,
      headers: { host: 'localhost', origin: 'http://a.example' },
    });
    expect([answer.statusCode, answer.body, answer.headers.allow]).toEqual([204, '', expect.stringContaining('GET')]);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  },
);

test('OPTIONS of what is not there tells nobody so', async () => {
  const answer = await api.app.inject({ method: 'OPTIONS', url: '/nowhere', headers: { host: 'localhost' } });
  expect(answer.statusCode).toBeGreaterThanOrEqual(400);
});

test.each([
  ['application/merge-patch+json', 200],
  ['Application/vnd.x-y.z+JSON; charset=utf-8', 200],
  ['application/json', 200],
  ['application/jsonx', 415],
  ['application/+json', 415],
  ['text/x+json', 415],
])('a body of %s is %d', async (type, expected) => {
  await admin('PUT', '/v3/components/ht1', {});
  const headers = { 'content-type': type, authorization: `Bearer ${api.tokens.admin}` };
  expect((await api.call('PATCH', '/v3/components/ht1', '{"error_count":0}', headers)).status).toBe(expected);
});

describe('options', () => {
  test('of version 3 are those of CFS in answers, and all are taken', async () => {
    for (const answer of [
      await admin('GET', '/v3/options'),
      await admin('PATCH', '/v3/options', { session_timeout: 7, batch_size: 26 }),
    ]) {
      expect(answer.status).toBe(200);
      expect(CfsOptionsSchema.safeParse(answer.body).error).toBeUndefined();
    }
    const own = await admin('GET', '/api/v1/options');
    expect(own.body).toMatchObject({ session_timeout: 7, batch_size: 26 });
    expect(Object.keys(own.body)).toEqual(expect.arrayContaining([...OWN_OPTIONS]));
    expect((await admin('PATCH', '/api/v1/options', { session_timeout: 8 })).body.session_timeout).toBe(8);
    expect((await api.as(api.tokens.reader, 'PATCH', '/api/v1/options', {})).status).toBe(403);
  });

  test.each([
    ['/v3/options', 'default_ansible_config', ['', 'A_B', '../x', 'a/b', '-a', 'x'.repeat(61)]],
    ['/api/v1/options', 'default_ansible_config', ['', 'Not-A-Name']],
    ['/v2/options', 'defaultAnsibleConfig', ['', 'a b']],
    ['/v2/options', 'defaultPlaybook', ['', 'a b']],
    ['/v3/options', 'additional_inventory_source', ['absent']],
    ['/v3/options', 'session_ttl', ['7x']],
    ['/v3/options', 'logging_level', ['', 'LOUD']],
    ['/v3/options', 'inventory_scope', ['', 'none']],
  ])('%s refuses %s of %j and names it', async (path, name, values) => {
    const before = (await admin('GET', '/api/v1/options')).body;
    for (const value of values) {
      const answer = await admin('PATCH', path, { [name]: value });
      expect([value, answer.status]).toEqual([value, 400]);
      if (value !== 'absent') expect(answer.body.detail).toContain(name);
    }
    expect((await admin('GET', '/api/v1/options')).body).toEqual(before);
  });
});

test('a patch of a session that does not exist is 404 whatever its body', async () => {
  for (const body of ['{', '[]', '{"status": 1}', '{"nope": 1}']) {
    for (const version of ['v2', 'v3']) {
      const headers = { authorization: `Bearer ${api.tokens.admin}`, 'content-type': 'application/json' };
      expect((await api.call('PATCH', `/${version}/sessions/none`, body, headers)).status).toBe(404);
    }
  }
});

test('who turns the result of a complete session is said in its message', async () => {
  await admin('PUT', '/v3/configurations/turned', { layers: [] });
  await admin('POST', '/v3/sessions', { name: 'turned', configuration_name: 'turned' });
  const patch = (session: object) => admin('PATCH', '/v3/sessions/turned', { status: { session } });
  await patch({ status: 'complete', succeeded: 'false' });
  const { body } = await patch({ succeeded: 'true' });
  expect(body.status.session).toMatchObject({
    succeeded: 'true',
    message: expect.stringMatching(/^token\/.* changed the result .* from false to true$/),
  });
});

test('after 1,000 wrong tokens good ones that were never seen are let in', async () => {
  const send = (number: number) =>
    api.call('GET', '/v3/options', undefined, { authorization: `Bearer wrong${number}` });
  const wrong = [];
  // One after the other, until there is something to wait for.
  for (let number = 0; number < 20; number += 1) wrong.push(await send(number));
  wrong.push(...(await Promise.all(Array.from({ length: 980 }, (_, number) => send(20 + number)))));
  expect(new Set(wrong.map(({ status }) => status))).toEqual(new Set([401, 429]));
  for (const token of [api.tokens.reader, api.tokens.operator]) {
    expect((await api.as(token, 'GET', '/v3/options')).status).toBe(200);
  }
});

test('answers of JSON are not kept by anybody', async () => {
  expect((await admin('GET', '/v3/components')).headers['cache-control']).toBe('no-store');
  expect((await api.call('GET', '/v3/components')).headers['cache-control']).toBe('no-store');
});
