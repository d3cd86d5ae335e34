import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

const URL1 = 'https://git.example.test/one.git';
const NOW = '2026-11-21T10:00:00Z';
const PASSWORD = 'pass-4f1c9';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  for (const table of ['configurations', 'sources', 'options', 'secrets'] as const) {
    await api.database.db.deleteFrom(table).execute();
  }
});

const credentials = { username: 'user', password: PASSWORD };
const create = (changes: object = {}) => api.call('POST', '/v3/sources', { clone_url: URL1, credentials, ...changes });
const twice = (name: string) => encodeURIComponent(encodeURIComponent(name));

describe('POST /sources', () => {
  test('keeps the credentials apart and never shows or logs them', async () => {
    api.logged.length = 0;
    const answer = await create({ name: 'one', description: 'd', ca_cert: { configmap_name: 'ca' } });
    const secret_name = answer.body.credentials.secret_name;
    expect(secret_name).toMatch(/^cfs-source-credentials-[0-9a-f-]{36}$/);
    const record = {
      name: 'one',
      description: 'd',
      last_updated: NOW,
      clone_url: URL1,
      credentials: { authentication_method: 'password', secret_name },
      ca_cert: { configmap_name: 'ca' },
    };
    expect([answer.status, answer.body]).toEqual([201, record]);
    expect((await api.call('GET', '/v3/sources/one')).body).toEqual(record);
    expect(await api.deps.secrets.get(secret_name)).toEqual(credentials);
    const stored = await api.database.db.selectFrom('secrets').selectAll().execute();
    expect(stored.every((row) => !row.ciphertext.includes(PASSWORD))).toBe(true);
    expect(JSON.stringify(api.logged)).not.toContain(PASSWORD);
  });

  test('the name is the URL by default; ids come encoded twice, once, or not at all', async () => {
    expect((await create()).body).toMatchObject({ name: URL1, ca_cert: null });
    for (const id of [twice(URL1), encodeURIComponent(URL1)]) {
      expect((await api.call('GET', `/v3/sources/${id}`)).body.name).toBe(URL1);
    }
    expect((await create({ name: '100% %zz' })).status).toBe(201);
    for (const id of [twice('100% %zz'), encodeURIComponent('100% %zz')]) {
      expect((await api.call('GET', `/v3/sources/${id}`)).body.name).toBe('100% %zz');
    }
    expect((await api.call('DELETE', `/v3/sources/${twice(URL1)}`)).status).toBe(204);
  });

  test('a taken name is 409 and leaves no secret', async () => {
    await create({ name: 'one' });
    const answer = await create({ name: 'one' });
    expect([answer.status, answer.body.title, answer.body.detail]).toEqual([
      409,
      'Conflicting source name',
      'A source with the name one already exists',
    ]);
    expect(await api.deps.secrets.list()).toHaveLength(1);
  });

  test('of equal ones at once exactly one is made, with one secret', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create({ name: 'one' })));
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(7).fill(409)]);
    expect(await api.deps.secrets.list()).toHaveLength(1);
  });

  test.each<[object, string]>([
    [{ clone_url: '' }, 'clone_url'],
    [{ clone_url: undefined }, 'clone_url'],
    [{ credentials: undefined }, 'credentials'],
    [{ credentials: { username: 'u' } }, 'password'],
    [{ credentials: { username: '', password: 'p' } }, 'credentials.username'],
    [{ credentials: { ...credentials, authentication_method: 'token' } }, 'credentials.authentication_method'],
    [{ credentials: { ...credentials, secret_name: 's' } }, 'credentials.secret_name'],
    [{ name: '' }, 'name'],
    [{ name: null }, 'name'],
    [{ ca_cert: {} }, 'configmap_name'],
    [{ ca_cert: { configmap_name: '' } }, 'ca_cert.configmap_name'],
    [{ last_updated: NOW }, "read-only - 'last_updated'"],
    [{ url: 'x' }, 'url'],
    [{ clone_url: 'x'.repeat(601) }, 'clone_url'],
  ])('%j is 400 without a secret', async (changes, named) => {
    const answer = await create(changes);
    expect([answer.status, answer.body.title]).toEqual([400, 'Bad Request']);
    expect(answer.body.detail).toContain(named);
    expect(answer.body.detail).not.toContain(PASSWORD);
    expect(await api.deps.secrets.list()).toEqual([]);
  });
});

describe('credentials travel in no refusal', () => {
  const HIDDEN = 'hidden-5b7e';
  test.each<[string, string, unknown]>([
    ['POST', '/v3/sources', { clone_url: URL1, credentials: HIDDEN }],
    ['POST', '/v3/sources', { clone_url: URL1, credentials: [HIDDEN] }],
    ['POST', '/v3/sources', { clone_url: URL1, credentials: { username: HIDDEN } }],
    ['POST', '/v3/sources', { clone_url: URL1, credentials: { username: 'u', password: [HIDDEN] } }],
    ['POST', '/v3/sources', { clone_url: URL1, credentials: { username: 'u', password: { [HIDDEN]: 1 } } }],
    ['POST', '/v3/sources', { clone_url: '', credentials: { username: 'u', password: HIDDEN } }],
    ['POST', '/v3/sources', { clone_url: URL1, credentials: { username: 'u', password: `${HIDDEN}\u0000` } }],
    ['POST', '/v3/sources', { clone_url: URL1, credentials: { username: 'u', password: HIDDEN, token: HIDDEN } }],
    ['POST', '/v3/sources', { clone_url: URL1, credentials: { authentication_method: HIDDEN } }],
    ['POST', '/v3/sources', JSON.stringify(HIDDEN)],
    ['POST', '/v3/sources', `{"credentials": {"password": "${HIDDEN}"`],
    ['POST', '/v3/sources/x', { clone_url: URL1, credentials: { secret_name: 's', password: HIDDEN } }],
    ['PATCH', '/v3/sources/one', { credentials: { password: HIDDEN } }],
    ['PATCH', '/v3/sources/one', { credentials: HIDDEN }],
    ['PATCH', '/v3/sources/none', { credentials: { username: 'u', password: HIDDEN } }],
    ['PUT', '/api/v1/secrets/a/b', JSON.stringify(HIDDEN)],
    ['PUT', '/api/v1/secrets/a/b', { value: [HIDDEN] }],
  ])('%s %s %j', async (method, url, body) => {
    await create({ name: 'one' });
    api.logged.length = 0;
    const answer = await api.call(method, url, body);
    expect([400, 404]).toContain(answer.status);
    expect(JSON.stringify(answer.body) + JSON.stringify(api.logged)).not.toContain(HIDDEN);
  });

  test.each([
    ['POST', '/v3/sources'],
    ['PATCH', '/v3/sources/one'],
    ['PUT', '/api/v1/secrets/a/b'],
  ])('a number as a password is not shown either: %s %s', async (method, url) => {
    await create({ name: 'one' });
    const wrong = 424_242_001;
    const body = url.endsWith('b')
      ? { value: wrong }
      : { clone_url: URL1, credentials: { username: 'u', password: wrong } };
    const answer = await api.call(method, url, body);
    expect([answer.status, answer.body.title]).toEqual([400, 'Bad Request']);
    expect(answer.body.detail).not.toContain(String(wrong));
    expect(answer.body.detail).toMatch(/password|value/);
  });
});

describe('names in paths', () => {
  const NAMES = [
    'a/b',
    '100%',
    '%2F',
    '%252F',
    'a?b#c',
    'ü ß \u{1F511}',
    'a+b',
    'a b',
    'a..b',
    'https://u@h:1/x?y=1&z=2',
  ];
  test.each(NAMES)('%j is found, changed and deleted by its name, encoded twice', async (name) => {
    expect((await create({ name })).status).toBe(201);
    const path = `/v3/sources/${twice(name)}`;
    expect((await api.call('GET', path)).body.name).toBe(name);
    expect((await api.call('PATCH', path, { description: 'd' })).body).toMatchObject({ name, description: 'd' });
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect((await api.call('GET', path)).status).toBe(404);
    const body = { clone_url: URL1, credentials: { authentication_method: 'password', secret_name: 's' } };
    expect((await api.call('POST', path, body)).body.name).toBe(name);
  });
  test.each(['a/b', 'a?b#c', 'ü ß', 'a+b', '100%', URL1])('%j is found encoded once', async (name) => {
    await create({ name });
    expect((await api.call('GET', `/v3/sources/${encodeURIComponent(name)}`)).body.name).toBe(name);
    expect((await api.call('GET', `/apis/cfs/v3/sources/${encodeURIComponent(name)}`)).status).toBe(200);
  });
  test('text that cannot be stored is no name', async () => {
    for (const id of ['%00', '%2500']) {
      expect((await api.call('GET', `/v3/sources/${id}`)).status).toBe(400);
    }
    expect((await api.call('GET', '/v3/sources/%25ED%25A0%2580')).status).toBe(404);
  });
  test('in a list the page after a name of any kind is found again by feeding next back', async () => {
    for (const name of NAMES) await create({ name });
    const seen: string[] = [];
    for (let query: string | null = '?limit=3'; query !== null; ) {
      const { body } = await api.call('GET', `/v3/sources${query}`);
      seen.push(...body.sources.map((one: { name: string }) => one.name));
      const members = Object.entries(body.next ?? {}).filter(([, value]) => value !== null) as [string, string][];
      query = body.next === null ? null : `?${new URLSearchParams(members)}`;
    }
    const byCodePoint = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
    expect(seen).toEqual([...NAMES].sort(byCodePoint));
  });
});

describe('POST /sources/{id}', () => {
  const body = { clone_url: URL1, credentials: { authentication_method: 'password', secret_name: 'vcs' } };
  test('restores the record and neither makes nor checks the secret', async () => {
    const answer = await api.call('POST', `/v3/sources/${twice('a/b')}`, body);
    expect([answer.status, answer.body]).toEqual([201, { ...body, name: 'a/b', last_updated: NOW, ca_cert: null }]);
    expect(await api.deps.secrets.list()).toEqual([]);
    expect((await api.call('POST', `/v3/sources/${twice('a/b')}`, body)).status).toBe(409);
  });
  test.each([
    [{ ...body, credentials: { secret_name: 'x' } }],
    [{ ...body, credentials: { authentication_method: 'password' } }],
    [{ ...body, name: 'x' }],
    [{ credentials: body.credentials }],
  ])('%j is 400', async (wrong) => expect((await api.call('POST', '/v3/sources/x', wrong)).status).toBe(400));
  test('a name that no index can hold is 400', async () => {
    expect((await api.call('POST', `/v3/sources/${'x'.repeat(601)}`, body)).status).toBe(400);
  });
  test('a secret that was not made for the source outlives it', async () => {
    await api.deps.secrets.putAll('muster-ssh', { private: 'k' });
    const named = { ...body, credentials: { ...body.credentials, secret_name: 'muster-ssh' } };
    await api.call('POST', '/v3/sources/x', named);
    await api.call('PATCH', '/v3/sources/x', { credentials });
    expect((await api.call('DELETE', '/v3/sources/x')).status).toBe(204);
    expect(await api.deps.secrets.get('muster-ssh')).toEqual({ private: 'k', ...credentials });
  });
});

describe('PATCH', () => {
  test('changes members, keeps the name of the secret, moves last_updated', async () => {
    const before = (await create({ name: 'one', ca_cert: { configmap_name: 'ca' } })).body;
    api.now.value = new Date('2026-11-21T12:00:00Z');
    const next = { username: 'other', password: 'word' };
    const answer = await api.call('PATCH', '/v3/sources/one', { description: 'new', credentials: next, ca_cert: null });
    const last_updated = '2026-11-21T12:00:00Z';
    expect([answer.status, answer.body]).toEqual([200, { ...before, description: 'new', ca_cert: null, last_updated }]);
    expect(await api.deps.secrets.get(before.credentials.secret_name)).toEqual(next);
    const again = await api.call('PATCH', '/v3/sources/one', {
      ca_cert: { configmap_name: 'b', configmap_namespace: 'n' },
      credentials: {},
    });
    expect(again.body.ca_cert).toEqual({ configmap_name: 'b', configmap_namespace: 'n' });
    expect(await api.deps.secrets.get(before.credentials.secret_name)).toEqual(next);
    api.now.value = new Date(NOW);
  });
  test('an unknown one is 404, with the dot of CFS', async () => {
    const answer = await api.call('PATCH', '/v3/sources/none', {});
    expect([answer.status, answer.body.title, answer.body.code]).toEqual([
      404,
      'Source not found.',
      'source_not_found',
    ]);
    expect((await api.call('GET', '/v3/sources/none')).body.title).toBe('Source not found');
  });
  test.each([[{ username: 'u' }], [{ password: 'p' }], [{ username: 'u', authentication_method: 'password' }]])(
    'credentials %j are incomplete',
    async (half) => {
      await create({ name: 'one' });
      const answer = await api.call('PATCH', '/v3/sources/one', { credentials: half });
      expect([answer.status, answer.body.title]).toEqual([400, 'Invalid credentials']);
    },
  );
  test.each([
    [{ name: 'x' }],
    [{ credentials: { secret_name: 'x' } }],
    [{ clone_url: '' }],
    [{ ca_cert: {} }],
    [{ description: null }],
  ])('%j is 400', async (body) => {
    await create({ name: 'one' });
    const answer = await api.call('PATCH', '/v3/sources/one', body);
    expect([answer.status, answer.body.title]).toEqual([400, 'Bad Request']);
  });
});

describe('DELETE and in_use', () => {
  test('in use is checked before existence; else the secret goes too', async () => {
    for (const name of ['layer', 'inventory', 'option', 'free']) await create({ name });
    await api.call('PUT', '/v3/configurations/c', {
      layers: [{ source: 'layer', playbook: 'p' }],
      additional_inventory: { source: 'inventory' },
    });
    expect((await api.call('PATCH', '/v3/options', { additional_inventory_source: 'option' })).status).toBe(200);
    for (const name of ['layer', 'inventory', 'option']) {
      const answer = await api.call('DELETE', `/v3/sources/${name}`);
      expect([answer.status, answer.body.title, answer.body.detail]).toEqual([
        400,
        'Source is in use.',
        `Source ${name} is referenced by some configurations`,
      ]);
    }
    const names = async (query: string) =>
      (await api.call('GET', `/v3/sources${query}`)).body.sources.map((one: { name: string }) => one.name);
    expect(await names('?in_use=true')).toEqual(['inventory', 'layer', 'option']);
    expect(await names('?in_use=false')).toEqual(['free']);
    expect((await api.call('GET', '/v3/sources?limit=2')).body.next).toEqual({
      in_use: null,
      limit: 2,
      after_id: 'inventory',
    });
    expect((await api.call('DELETE', '/v3/sources/free')).status).toBe(204);
    expect(await api.deps.secrets.list()).toHaveLength(3);
    expect((await api.call('DELETE', '/v3/sources/free')).body).toMatchObject({
      status: 404,
      title: 'Source not found',
    });
  });

  test('a secret that cannot be removed just now does not stop the delete, and is logged', async () => {
    await create({ name: 'one' });
    const remove = api.deps.secrets.delete;
    api.deps.secrets.delete = () => Promise.reject(new Error('no'));
    api.logged.length = 0;
    expect((await api.call('DELETE', '/v3/sources/one')).status).toBe(204);
    api.deps.secrets.delete = remove;
    expect(api.logged).toContainEqual(expect.objectContaining({ level: 40, msg: expect.stringContaining('secret') }));
    expect((await api.call('GET', '/v3/sources/one')).status).toBe(404);
  });

  test('a source deleted while a configuration begins to use it: one of the two is refused', async () => {
    for (let round = 0; round < 20; round++) {
      await create({ name: 'one' });
      const [removed, stored] = await Promise.all([
        api.call('DELETE', '/v3/sources/one'),
        api.call('PUT', '/v3/configurations/c', { layers: [{ source: 'one', playbook: 'p' }] }),
      ]);
      expect([
        [204, 400],
        [400, 200],
      ]).toContainEqual([removed.status, stored.status]);
      await api.database.db.deleteFrom('configurations').execute();
      await api.database.db.deleteFrom('sources').execute();
    }
  });
});
