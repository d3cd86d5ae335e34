import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { createTestApi } from '../support/stack/test-api.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

let api: TokenApi;
beforeAll(async () => {
  api = await createTokenApi();
});
afterAll(() => api.close());

const admin = (method: string, path: string, body?: unknown) => api.as(api.tokens.admin, method, path, body);
const create = (body: object) => admin('POST', '/api/v1/tokens', body);

describe('making a token', () => {
  test('answers it once, with everything about it', async () => {
    const answer = await create({ role: 'operator', name: 'deploy@ci', expires_in: 86_400 });
    expect(answer.status).toBe(201);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'deploy@ci',
      role: 'operator',
      component: null,
      created_at: '2026-11-21T10:00:00Z',
      created_by: 'token/root',
      expires_at: '2026-11-22T10:00:00Z',
      expired: false,
      last_used_at: null,
      token: expect.stringMatching(/^muster_[0-9A-Za-z]{49}$/),
    });
    const { token, ...shown } = answer.body;
    expect((await admin('GET', '/api/v1/tokens/deploy@ci')).body).toEqual(shown);
    expect((await admin('GET', `/api/v1/tokens/${shown.id.toUpperCase()}`)).body).toEqual(shown);
    expect((await api.as(token, 'GET', '/v3/options')).status).toBe(200);
    expect(JSON.stringify(api.logged)).not.toContain(token);
  });

  test('names it itself where nobody does', async () => {
    expect((await create({ role: 'reader' })).body.name).toMatch(/^reader-[0-9a-f]{8}$/);
  });

  test.each([
    [{}, "'role' is a required property"],
    [{ role: 'root' }, "'admin', 'operator', 'reader', 'node' - 'role'"],
    [{ role: 'reader', more: 1 }, "'more'"],
    [{ role: 'node' }, "'component'"],
    [{ role: 'node', component: '' }, "'component'"],
    [{ role: 'reader', component: 'x1' }, "the role node only - 'component'"],
    [{ role: 'reader', expires_in: 0 }, "'expires_in'"],
    [{ role: 'reader', expires_in: 1.5 }, "'expires_in'"],
    [{ role: 'reader', expires_in: 1e12 }, "'expires_in'"],
    [{ role: 'reader', name: '' }, "'name'"],
    [{ role: 'reader', name: 'a b' }, "'name'"],
    [{ role: 'reader', name: 'x'.repeat(101) }, "'name'"],
    [{ role: 'reader', name: '0b5a2cfc-8f4b-4d4a-9a3e-0f6d8a1f9b11' }, "must not look like the id of a token - 'name'"],
    [{ role: 'reader', name: null }, "'name'"],
  ])('%j is refused', async (body, words) => {
    const answer = await create(body);
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toContain(words);
  });

  test('a name is taken until the token is revoked; then it is free', async () => {
    expect((await create({ role: 'reader', name: 'twice' })).status).toBe(201);
    expect((await create({ role: 'admin', name: 'twice' })).body).toMatchObject({ status: 409, code: 'token_exists' });
    expect((await admin('DELETE', '/api/v1/tokens/twice')).status).toBe(204);
    expect((await create({ role: 'reader', name: 'twice' })).status).toBe(201);
  });
});

test('the list has pages, by name', async () => {
  for (const name of ['zz-b', 'zz-a', 'zz-C']) await create({ role: 'reader', name });
  const names: string[] = [];
  for (let query = 'limit=1&after_id=zz'; ; ) {
    const { tokens, next } = (await admin('GET', `/api/v1/tokens?${query}`)).body;
    names.push(...tokens.map((token: { name: string }) => token.name));
    if (next === null) break;
    query = new URLSearchParams(next).toString();
  }
  expect(names).toEqual(['zz-C', 'zz-a', 'zz-b']);
  expect((await admin('GET', '/api/v1/tokens?limit=0')).status).toBe(400);
});

describe('a token that is good no more', () => {
  test('is refused from the next request on when it is revoked, by another process too', async () => {
    const other = await createTestApi({ access: { mode: 'token', issuer: undefined }, db: api.database.db });
    const { token, id } = (await create({ role: 'reader', name: 'gone' })).body;
    const ask = () => other.call('GET', '/v3/options', undefined, { authorization: `Bearer ${token}` });
    expect((await ask()).status).toBe(200);
    expect((await admin('DELETE', `/api/v1/tokens/${id}`)).status).toBe(204);
    const refused = await ask();
    expect(refused.body).toMatchObject({ status: 401, code: 'unauthenticated' });
    expect(refused.headers['www-authenticate']).toBe('Bearer realm="muster", error="invalid_token"');
    for (const path of ['gone', id]) {
      expect((await admin('DELETE', `/api/v1/tokens/${path}`)).body).toMatchObject({
        status: 404,
        code: 'token_not_found',
      });
      expect((await admin('GET', `/api/v1/tokens/${path}`)).status).toBe(404);
    }
    await other.close();
  });

  test('is refused when it has expired, and still listed as that', async () => {
    const { token } = (await create({ role: 'reader', name: 'short', expires_in: 60 })).body;
    const start = api.now.value;
    api.now.value = new Date(start.getTime() + 59_000);
    expect((await api.as(token, 'GET', '/v3/options')).status).toBe(200);
    api.now.value = new Date(start.getTime() + 60_000);
    expect((await api.as(token, 'GET', '/v3/options')).body.detail).toContain("'short' expired");
    expect((await admin('GET', '/api/v1/tokens/short')).body).toMatchObject({ expired: true });
    api.now.value = start;
  });
});

test('the last use is noted, but not with every request', async () => {
  const token = await api.make({ role: 'reader', name: 'used' });
  const start = api.now.value;
  const noted = () =>
    api.database.db.selectFrom('tokens').select('last_used_at').where('name', '=', 'used').executeTakeFirst();
  await api.as(token, 'GET', '/v3/options');
  await eventually('the use is noted', async () => ((await noted())?.last_used_at ?? null) !== null);
  api.now.value = new Date(start.getTime() + 9 * 60_000);
  await api.as(token, 'GET', '/v3/options');
  expect((await noted())?.last_used_at).toEqual(start);
  api.now.value = new Date(start.getTime() + 11 * 60_000);
  await api.as(token, 'GET', '/v3/options');
  await eventually(
    'the later use is noted',
    async () => (await noted())?.last_used_at?.getTime() === api.now.value.getTime(),
  );
  api.now.value = start;
});

test('the actor is stored with what is written', async () => {
  await api.as(api.tokens.operator, 'POST', '/v3/sessions', { name: 'by-ops', configuration_name: 'none' });
  await api.as(api.tokens.operator, 'PUT', '/v3/configurations/by-ops', {
    layers: [{ clone_url: 'https://git.example.test/a.git', playbook: 'site.yml', commit: 'a'.repeat(40) }],
  });
  await api.as(api.tokens.operator, 'PUT', '/v3/components/by-ops', { enabled: true });
  const { db } = api.database;
  const actors = await Promise.all([
    db.selectFrom('configurations').select('actor').where('name', '=', 'by-ops').executeTakeFirst(),
    db.selectFrom('components').select('actor').where('id', '=', 'by-ops').executeTakeFirst(),
  ]);
  expect(actors).toEqual([{ actor: 'token/ops' }, { actor: 'token/ops' }]);
});

describe('what is sent as a token', () => {
  test.each([
    ['Basic cm9vdDpyb290', 'must be: Bearer TOKEN'],
    ['Bearer', 'no token after Bearer'],
    ['Bearer  ', 'no token after Bearer'],
    ['muster_xyz', 'must be: Bearer TOKEN'],
    ['Bearer two words', 'character that no token has'],
    ['Bearer muster_short', 'not one of this API'],
    [`Bearer muster_${'0'.repeat(43)}2J28yZ`, 'unknown or was revoked'],
    [`Bearer muster_${'0'.repeat(49)}`, 'not one of this API'],
    [`Bearer ${'x'.repeat(17_000)}`, 'longer than'],
    ['Bearer eyJhbGciOiJub25lIn0.e30.', 'not one of this API'],
    ['Bearer é', 'character that no token has'],
  ])('%s is 401', async (authorization, words) => {
    const fresh = await createTestApi({ access: { mode: 'token', issuer: undefined }, db: api.database.db });
    const answer = await fresh.call('GET', '/v3/options', undefined, { authorization });
    expect(answer.body).toMatchObject({ status: 401, code: 'unauthenticated' });
    expect(answer.body.detail).toContain(words);
    expect(answer.body.detail).not.toContain('0000');
    await fresh.close();
  });
  test('the word Bearer in any letter case and with blanks', async () => {
    for (const scheme of ['bearer', 'BEARER', ' Bearer  ']) {
      const headers = { authorization: `${scheme} ${api.tokens.reader} ` };
      expect((await api.call('GET', '/v3/options', undefined, headers)).status).toBe(200);
    }
  });
  test('the token of a run opens nothing here', async () => {
    const { newToken } = await import('../../control/access/token-secret.ts');
    expect((await api.as(newToken('run'), 'GET', '/v3/options')).status).toBe(401);
  });
});

describe('a node', () => {
  beforeAll(async () => {
    await admin('PUT', '/v3/components', [
      { id: 'x1', desired_config: 'c', tags: { ansible_host: '10.0.0.1' } },
      { id: 'x2' },
    ]);
  });
  const node = (method: string, path: string, body?: unknown) => api.as(api.tokens.node, method, path, body);

  test.each([
    ['/v3/components/x1', { state: [], enabled: true }],
    ['/apis/cfs/v3/components/x1', { state: [], enabled: true, error_count: 0 }],
    ['/v3/components/%78%31', { enabled: true }],
    ['/v2/components/x1', { state: [], enabled: true, errorCount: 1 }],
    [
      '/v3/components/x1',
      { state_append: { clone_url: 'u', playbook: 'p', commit: 'a'.repeat(40), session_name: 's' } },
    ],
    ['/v2/components/x1', { stateAppend: { cloneUrl: 'u', playbook: 'p', commit: 'a'.repeat(40), sessionName: 's' } }],
  ])('reports %s %j', async (path, body) => {
    expect((await node('PATCH', path, body)).status).toBe(200);
    expect((await node('GET', path)).status).toBe(200);
  });

  test.each([
    ['PATCH', '/v3/components/x2', { enabled: true }],
    ['PATCH', '/v3/components/X1', { enabled: true }],
    ['PATCH', '/v3/components/x1%20', { enabled: true }],
    ['PATCH', '/v3/components/x3', { enabled: true }],
    ['GET', '/v3/components/x2', undefined],
    ['PUT', '/v3/components/x1', { enabled: true }],
    ['DELETE', '/v3/components/x1', undefined],
    ['PATCH', '/v3/components/x1', { desired_config: 'mine' }],
    ['PATCH', '/v3/components/x1', { tags: { ansible_connection: 'local' } }],
    ['PATCH', '/v3/components/x1', { retry_policy: 9 }],
    ['PATCH', '/v3/components/x1', { enabled: true, desired_config: 'mine' }],
    ['PATCH', '/v2/components/x1', { desiredConfig: 'mine' }],
    ['PATCH', '/v2/components/x1', { retryPolicy: 1 }],
    ['PATCH', '/v3/components/x1', { id: 'x2' }],
    ['PATCH', '/v3/components/x1', { constructor: 1 }],
    ['PATCH', '/v3/components', [{ id: 'x1', enabled: true }]],
    ['PATCH', '/v3/components', { patch: { enabled: true }, filters: { ids: 'x1' } }],
  ] as [string, string, unknown][])('may not %s %s %j', async (...[method, path, body]: [string, string, unknown]) => {
    const before = (await admin('GET', '/v3/components')).body;
    expect((await node(method, path, body)).body).toMatchObject({ status: 403, code: 'forbidden' });
    expect((await admin('GET', '/v3/components')).body).toEqual(before);
  });

  test('gets 400, not 500, for nonsense about its own component', async () => {
    for (const body of ['{', '[]', 'null', '"x"', '{"state": 5}', '{"state_append": {}}']) {
      expect((await node('PATCH', '/v3/components/x1', body)).status).toBe(400);
    }
    expect((await node('PATCH', '/v3/components/x1', '{}')).status).toBe(200);
  });

  test('whose component is not there yet is told so, which its reporter waits for', async () => {
    const early = await api.make({ role: 'node', component: 'x9' });
    const answer = await api.as(early, 'PATCH', '/v3/components/x9', { state: [], enabled: true });
    expect(answer.body).toMatchObject({ status: 404, detail: expect.stringContaining('x9') });
  });

  test('with an id that must be encoded', async () => {
    const id = 'a/b c%2F';
    const token = await api.make({ role: 'node', component: id });
    await admin('PUT', `/v3/components/${encodeURIComponent(id)}`, {});
    expect((await api.as(token, 'PATCH', `/v3/components/${encodeURIComponent(id)}`, { enabled: true })).status).toBe(
      200,
    );
    expect((await api.as(token, 'PATCH', '/v3/components/a', { enabled: true })).status).toBe(403);
  });
});

test('without the database nobody is let in or turned away: 503', async () => {
  const { openDatabase } = await import('../../store/connection/database.ts');
  const away = await createTokenApi({ db: openDatabase({ url: 'postgres://nobody@127.0.0.1:9/none' }) });
  const answer = await away.call('GET', '/v3/options', undefined, { authorization: `Bearer ${away.tokens.admin}` });
  expect(answer.body).toMatchObject({ status: 503, code: 'storage_unavailable' });
  expect((await away.call('GET', '/versions')).status).toBe(200);
  await away.close();
});

describe('without access control', () => {
  test('a token is no matter, whatever it is, and nobody is known', async () => {
    const open = await createTestApi();
    for (const authorization of [
      'Bearer eyJhbGciOiJSUzI1NiJ9.e30.AAAA',
      'Bearer',
      'Basic x',
      `Bearer ${'x'.repeat(100_000)}`,
    ]) {
      expect((await open.call('PUT', '/v3/components/x1', {}, { authorization, 'x-user': 'eve' })).status).toBe(200);
    }
    const row = await open.database.db.selectFrom('components').select('actor').executeTakeFirst();
    expect(row).toEqual({ actor: null });
    await open.close();
  });
  test('no token can be made that would be worth something later', async () => {
    const open = await createTestApi();
    const answer = await open.call('POST', '/api/v1/tokens', { role: 'admin' });
    expect(answer.body).toMatchObject({ status: 403, code: 'forbidden' });
    expect(answer.body.detail).toContain('MUSTER_AUTH=token');
    expect((await open.call('GET', '/api/v1/tokens')).body).toEqual({ tokens: [], next: null });
    await open.close();
  });
  test('a gateway may say who asks', async () => {
    const open = await createTestApi({ access: { mode: 'none', actorHeader: 'x-user' } });
    await open.call('PUT', '/v3/components/a', {}, { 'x-user': ' alice ' });
    await open.call('PUT', '/v3/components/b', {}, { 'x-user': 'x'.repeat(5_000) });
    await open.call('PUT', '/v3/components/c', {}, {});
    const rows = await open.database.db.selectFrom('components').select(['id', 'actor']).orderBy('id').execute();
    expect(rows.map(({ actor }) => actor)).toEqual(['alice', 'x'.repeat(200), null]);
    await open.close();
  });
});
