import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Answer, createTestApi, type TestApi } from '../support/stack/test-api.ts';

const URL = 'https://git.example.test/one.git';
const A = 'a'.repeat(40);

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  for (const table of ['components', 'configurations', 'sources', 'options', 'sessions'] as const) {
    await api.database.db.deleteFrom(table).execute();
  }
  await api.call('PUT', '/v3/configurations/c', { layers: [{ clone_url: URL, playbook: 'p', commit: A }] });
  await api.call('PUT', '/v3/components/x', { tags: { a: 'b' } });
  await api.call('POST', '/v3/sessions', { name: 's', configuration_name: 'c' });
  const credentials = { username: 'u', password: 'p' };
  await api.call('POST', '/v3/sources', { name: 'src', clone_url: URL, credentials });
});

type Version = 'v2' | 'v3';
const VERSIONS: Version[] = ['v2', 'v3'];
const PREFIXES = ['', '/apis/cfs'];
/** Each base path of both versions. */
const BASES = VERSIONS.flatMap((version) => PREFIXES.map((prefix) => [`${prefix}/${version}`, version] as const));

/** A value for each version. */
const of = <T>(version: Version, v2: T, v3: T): T => (version === 'v2' ? v2 : v3);

interface Operation {
  method: string;
  path: string;
  /** A good body in each version's names. */
  body?: Record<Version, unknown>;
}
const both = (body: unknown): Record<Version, unknown> => ({ v2: body, v3: body });
const layers = {
  v2: [{ cloneUrl: URL, playbook: 'p', commit: A }],
  v3: [{ clone_url: URL, playbook: 'p', commit: A }],
};

/** All operations that both versions have. */
const OPERATIONS: Operation[] = [
  { method: 'GET', path: '' },
  { method: 'GET', path: '/options' },
  { method: 'PATCH', path: '/options', body: { v2: { batchSize: 5 }, v3: { batch_size: 5 } } },
  { method: 'GET', path: '/configurations' },
  { method: 'GET', path: '/configurations/c' },
  { method: 'PUT', path: '/configurations/c', body: { v2: { layers: layers.v2 }, v3: { layers: layers.v3 } } },
  { method: 'PATCH', path: '/configurations/c' },
  { method: 'DELETE', path: '/configurations/c' },
  { method: 'GET', path: '/components' },
  { method: 'PUT', path: '/components', body: both([{ id: 'x' }, { id: 'y' }]) },
  { method: 'PATCH', path: '/components', body: both([{ id: 'x', enabled: true }]) },
  { method: 'GET', path: '/components/x' },
  { method: 'PUT', path: '/components/x', body: both({ enabled: true }) },
  { method: 'PATCH', path: '/components/x', body: both({ enabled: true }) },
  { method: 'DELETE', path: '/components/x' },
  { method: 'GET', path: '/sessions' },
  {
    method: 'POST',
    path: '/sessions',
    body: { v2: { name: 'n', configurationName: 'c' }, v3: { name: 'n', configuration_name: 'c' } },
  },
  { method: 'DELETE', path: '/sessions' },
  { method: 'GET', path: '/sessions/s' },
  { method: 'DELETE', path: '/sessions/s' },
];

const CASES = BASES.flatMap(([base, version]) => OPERATIONS.map((operation) => ({ base, version, ...operation })));
const WITH_BODY = CASES.filter((one) => one.body !== undefined);

function isProblem(answer: Answer, status: number, title: string) {
  expect([answer.status, answer.body.title, answer.body.status]).toEqual([status, title, status]);
  expect(answer.headers['content-type']).toBe('application/problem+json');
  expect(Object.keys(answer.body).sort()).toEqual(['code', 'detail', 'status', 'title', 'type']);
}

describe('success (cfs-api 14)', () => {
  test.each(CASES)('$method $base$path', async ({ method, path, base, version, body }) => {
    const answer = await api.call(method, base + path, body?.[version]);
    const many = method === 'DELETE' && path === '/sessions';
    const created = method === 'POST' ? of(version, 200, 201) : 200;
    expect(answer.status).toBe(method === 'DELETE' ? (many ? of(version, 204, 200) : 204) : created);
    if (answer.status === 204) expect([answer.body, answer.headers['content-type']]).toEqual(['', undefined]);
    else expect(answer.headers['content-type']).toBe('application/json');
    if (many && version === 'v3') expect(answer.body).toEqual({ session_ids: [] });
  });

  test.each(BASES)('%s: bulk writes answer records in v2, ids in v3', async (base, version) => {
    const record = { id: 'x', state: [], enabled: false, tags: {} };
    const full = of<object>(
      version,
      { ...record, desiredConfig: '', errorCount: 0 },
      { ...record, desired_config: '', error_count: 0 },
    );
    const written = of<object>(version, [full], { component_ids: ['x'] });
    expect((await api.call('PUT', `${base}/components`, [{ id: 'x' }])).body).toEqual(written);
    expect((await api.call('PATCH', `${base}/components`, [{ id: 'x' }])).body).toEqual(written);
    // Of a change by filter version 2 answers the status too, as CFS does.
    const byFilter = of<object>(version, [{ ...full, configurationStatus: 'unconfigured' }], written);
    expect((await api.call('PATCH', `${base}/components`, { patch: {}, filters: {} })).body).toEqual(byFilter);
    expect((await api.call('PUT', `${base}/components/x`, {})).body).toEqual(full);
    expect((await api.call('PATCH', `${base}/components/x`, {})).body).toEqual(full);
  });

  test.each(BASES)('%s: lists are arrays in v2, pages in v3', async (base, version) => {
    for (const kind of ['components', 'sessions', 'configurations']) {
      const { body } = await api.call('GET', `${base}/${kind}`);
      if (version === 'v2') expect(body).toEqual([expect.any(Object)]);
      else expect(body).toEqual({ [kind]: [expect.any(Object)], next: null });
    }
  });

  test.each(CASES.filter(({ method }) => method === 'GET'))('HEAD $base$path as GET', async ({ base, path }) => {
    const [head, got] = [await api.call('HEAD', base + path), await api.call('GET', base + path)];
    expect([head.status, head.body, head.headers['content-type']]).toEqual([200, '', got.headers['content-type']]);
    expect((await api.call('HEAD', `${base}${path}/`)).status).toBe(404);
  });

  test.each(BASES.map(([base]) => base))('HEAD %s of what is not there is 404', async (base) => {
    for (const kind of ['components', 'sessions', 'configurations']) {
      expect((await api.call('HEAD', `${base}/${kind}/none`)).status).toBe(404);
    }
  });
});

describe('rules of all requests (cfs-api 1, 2)', () => {
  const isBulk = ({ method, path }: { method: string; path: string }) =>
    ['PATCH', 'DELETE'].includes(method) && ['/components', '/sessions'].includes(path);

  test.each(CASES.filter((one) => !isBulk(one)))('$method $base$path ignores unknown parameters', async (one) => {
    const query = `?nonsense=1&nonsense=2&__proto__=x&constructor=${'y'.repeat(50)}`;
    const headers = { authorization: 'Bearer abc' };
    const answer = await api.call(one.method, one.base + one.path + query, one.body?.[one.version], headers);
    expect(answer.status).toBeLessThan(300);
  });

  test.each(WITH_BODY)('$method $base$path takes JSON alone', async ({ method, base, path, version, body }) => {
    const text = JSON.stringify(body?.[version]);
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', '*/*']) {
      const answer = await api.call(method, base + path, text, { 'content-type': type });
      isProblem(answer, 415, 'Unsupported Media Type');
      expect(answer.body.detail).toContain(type);
    }
    isProblem(await api.call(method, base + path), 415, 'Unsupported Media Type');
    for (const broken of ['{', '[1,]', 'undefined', '{"a":1}x', "{'a':1}"]) {
      const answer = await api.call(method, base + path, broken);
      isProblem(answer, 400, 'Bad Request');
      expect(answer.body.detail).toBe('Request body is not valid JSON');
    }
    for (const wrong of ['null', '7', '"text"', 'true', ' ']) {
      isProblem(await api.call(method, base + path, wrong), 400, 'Bad Request');
    }
    const accepted = await api.call(method, base + path, text, {
      'content-type': 'APPLICATION/json ; charset="utf-8"',
    });
    expect(accepted.status).toBeLessThan(300);
  });

  test.each(CASES.filter(({ body }) => body === undefined))(
    '$method $base$path does not look at a body',
    async ({ method, base, path }) => {
      if (method === 'GET') return expect((await api.call(method, base + path)).status).toBe(200);
      for (const type of ['text/xml', 'application/json', 'garbage']) {
        const answer = await api.call(method, base + path, '<{', { 'content-type': type });
        expect([200, 204, 404]).toContain(answer.status);
      }
      return undefined;
    },
  );

  test.each(BASES)('%s: null is refused for every member', async (base, version) => {
    const refused = async (method: string, path: string, members: Record<string, unknown>, rest: object = {}) => {
      for (const name of Object.keys(members)) {
        const answer = await api.call(method, base + path, { ...rest, [name]: null });
        isProblem(answer, 400, 'Bad Request');
        expect(answer.body.detail).toContain(`'${name}'`);
      }
    };
    const record = (await api.call('GET', `${base}/components/x?state_details=true`)).body;
    await refused('PATCH', '/components/x', record);
    await refused('PUT', '/components/x', record);
    await refused('PATCH', '/options', (await api.call('GET', `${base}/options`)).body);
    const configuration = (await api.call('GET', `${base}/configurations/c`)).body;
    await refused('PUT', '/configurations/c', configuration, { layers: [] });
    const wanted = of<object>(version, { name: 'n', configurationName: 'c' }, { name: 'n', configuration_name: 'c' });
    const more = of<object>(
      version,
      { ansibleLimit: '', ansibleVerbosity: 1, target: {} },
      { ansible_limit: '', ansible_verbosity: 1, target: {} },
    );
    await refused('POST', '/sessions', { ...wanted, ...more, tags: {} }, wanted);
  });

  test.each(BASES)('%s: of a repeated parameter the last wins', async (base, version) => {
    const list = async (kind: string, query: string) => {
      const { body } = await api.call('GET', `${base}/${kind}?${query}`);
      return of(version, body, body[kind]);
    };
    expect(await list('components', 'ids=none&ids=x')).toHaveLength(1);
    expect(await list('components', 'ids=x&ids=none')).toHaveLength(0);
    expect(await list('components', 'enabled=oops&enabled=false')).toHaveLength(1);
    expect(await list('sessions', 'status=complete&status=pending')).toHaveLength(1);
    expect(await list('configurations', 'in_use=1&in_use=FALSE')).toHaveLength(1);
  });

  test.each(BASES)('%s: booleans are true or false in any letter case', async (base, version) => {
    const details = of(version, 'configDetails', 'config_details');
    for (const [path, name] of [
      ['/components', 'enabled'],
      ['/components', details],
      ['/components/x', details],
      ['/configurations', 'in_use'],
    ] as const) {
      for (const value of ['true', 'True', 'TRUE', 'false', 'fAlSe']) {
        expect((await api.call('GET', `${base}${path}?${name}=${value}`)).status).toBe(200);
      }
      for (const value of ['', '1', '0', 'yes', 'on', 'null', 'true,', ' true', 'None']) {
        const answer = await api.call('GET', `${base}${path}?${name}=${encodeURIComponent(value)}`);
        isProblem(answer, 400, 'Bad Request');
        expect(answer.body.detail).toBe(`Wrong type, expected 'boolean' for query parameter '${name}'`);
      }
    }
  });

  test.each(PREFIXES)('%s: integers are decimal in v3, and no parameters of v2', async (prefix) => {
    for (const kind of ['components', 'sessions', 'configurations', 'sources']) {
      for (const value of ['', '1.0', '0x1', '1e3', 'one', ' 1', '1 ']) {
        const answer = await api.call('GET', `${prefix}/v3/${kind}?limit=${encodeURIComponent(value)}`);
        isProblem(answer, 400, 'Bad Request');
        expect(answer.body.detail).toBe("Wrong type, expected 'integer' for query parameter 'limit'");
      }
      for (const value of ['0', '-1']) {
        isProblem(await api.call('GET', `${prefix}/v3/${kind}?limit=${value}`), 400, 'Bad Request');
      }
      for (const value of ['1', '0007', '1000000', '99999999999999999999']) {
        expect((await api.call('GET', `${prefix}/v3/${kind}?limit=${value}`)).status).toBe(200);
      }
      if (kind !== 'sources') expect((await api.call('GET', `${prefix}/v2/${kind}?limit=x`)).status).toBe(200);
    }
  });

  test.each(PREFIXES)('%s: empty text is no filter in v3, and no status in v2', async (prefix) => {
    const empty = 'ids=&status=&config_name=&tags=&after_id=&succeeded=&min_age=&max_age=&age=&name_contains=';
    for (const kind of ['components', 'sessions', 'configurations', 'sources']) {
      expect((await api.call('GET', `${prefix}/v3/${kind}?${empty}`)).body[kind]).toHaveLength(1);
    }
    for (const query of ['components?status=', 'sessions?status=', 'sessions?succeeded=']) {
      isProblem(await api.call('GET', `${prefix}/v2/${query}`), 400, 'Bad Request');
    }
    expect((await api.call('GET', `${prefix}/v2/components?ids=&configName=&tags=`)).body).toHaveLength(1);
    expect((await api.call('GET', `${prefix}/v2/sessions?min_age=&max_age=&age=&tags=`)).body).toHaveLength(1);
  });

  test.each(BASES)(
    '%s: parameters and type before JSON, JSON before the schema, the schema before the rules',
    async (base, version) => {
      const put = (query: string, body: string, type = 'application/json') =>
        api.call('PUT', `${base}/configurations/${query}`, body, { 'content-type': type });
      const tooLong = 'x'.repeat(version === 'v2' ? 601 : 61);
      expect((await put(tooLong, '{', 'text/plain')).body.detail).toContain('configuration_id');
      if (version === 'v3')
        expect((await put('c?drop_branches=1', '{', 'text/plain')).body.detail).toContain('drop_branches');
      expect((await put('c', '{', 'text/plain')).status).toBe(415);
      expect((await put('c', '{')).body.detail).toBe('Request body is not valid JSON');
      const bad = of<object>(
        version,
        { layers: [{ cloneUrl: URL, branch: 'b', commit: A }], nope: 1 },
        { layers: [{ clone_url: URL, playbook: 'p', branch: 'b', commit: A }], nope: 1 },
      );
      expect((await put('c', JSON.stringify(bad))).body.title).toBe('Bad Request');
      const { nope: _, ...rule } = bad as { nope: number };
      expect((await put('c', JSON.stringify(rule))).body.title).toBe(
        of(version, 'Error handling error branches', 'Error handling branches'),
      );
      const patch = await api.call('PATCH', `${base}/components/none`, { nope: 1 });
      expect(patch.status).toBe(400);
      expect((await api.call('PATCH', `${base}/components/none`, {})).status).toBe(404);
      const create = of<object>(version, { name: 's', configurationName: 'c' }, { name: 's', configuration_name: 'c' });
      expect((await api.call('POST', `${base}/sessions`, { ...create, tags: 1 })).status).toBe(400);
      expect((await api.call('POST', `${base}/sessions`, create)).status).toBe(409);
    },
  );

  test.each(PREFIXES)('%s: the name of a v3 configuration has 1 to 60 characters, for every method', async (prefix) => {
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const long = await api.call(method, `${prefix}/v3/configurations/${'x'.repeat(61)}`, { layers: [] });
      isProblem(long, 400, 'Bad Request');
      expect(long.body.detail).toContain('configuration_id');
      const other = await api.call(method, `${prefix}/v2/configurations/${'x'.repeat(61)}`, { layers: [] });
      expect(other.status).toBe({ GET: 404, PUT: 200, PATCH: 200, DELETE: 204 }[method]);
      const sixty = encodeURIComponent('\u{1F642}'.repeat(60));
      const fits = await api.call(method, `${prefix}/v3/configurations/${sixty}`, { layers: [] });
      expect(fits.status).toBe({ GET: 404, PUT: 200, PATCH: 200, DELETE: 204 }[method]);
    }
  });

  test.each(BASES)('%s: unknown paths are 404, known ones with another method 405', async (base, version) => {
    for (const path of [
      '/',
      '/versions',
      '/healthz',
      '/components/',
      '/components/x/',
      '/options/',
      '/option',
      '/sessions/s/logs',
    ]) {
      isProblem(await api.call('GET', base + path), 404, 'Not Found');
    }
    for (const [method, path, allow] of [
      ['POST', '/components', 'GET, HEAD, PATCH, PUT'],
      ['DELETE', '/components', 'GET, HEAD, PATCH, PUT'],
      ['POST', '/components/x', 'DELETE, GET, HEAD, PATCH, PUT'],
      ['PUT', '/options', 'GET, HEAD, PATCH'],
      ['DELETE', '/options', 'GET, HEAD, PATCH'],
      ['POST', '/configurations', 'GET, HEAD'],
      ['PUT', '/configurations', 'GET, HEAD'],
      ['POST', '/configurations/c', 'DELETE, GET, HEAD, PATCH, PUT'],
      ['PUT', '/sessions', 'DELETE, GET, HEAD, POST'],
      ['PATCH', '/sessions', 'DELETE, GET, HEAD, POST'],
      ['PUT', '/sessions/s', 'DELETE, GET, HEAD, PATCH'],
      ['POST', '', 'GET, HEAD'],
    ] as const) {
      const answer = await api.call(method, base + path, '{', { 'content-type': 'text/plain' });
      isProblem(answer, 405, 'Method Not Allowed');
      expect(answer.headers.allow).toBe(allow);
    }
    const sources = await api.call('GET', `${base}/sources`);
    if (version === 'v2') isProblem(sources, 404, 'Not Found');
    else expect(sources.status).toBe(200);
  });
});
