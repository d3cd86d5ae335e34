import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

const R1 = 'https://git.example.test/one.git';
const R2 = 'https://git.example.test/two.git';
const [A, B, C] = ['a', 'b', 'c'].map((digit) => digit.repeat(40)) as [string, string, string];

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  const layer = (clone_url: string, playbook: string, commit?: string) => ({ clone_url, playbook, commit });
  const configurations = {
    two: [layer(R1, 'site.yml', A), layer(R1, 'net.yml', B)],
    one: [layer(R1, 'site.yml', A)],
    three: [layer(R1, 'site.yml', A), layer(R2, 'site.yml', B), layer(R2, 'net.yml', C)],
    empty: [],
    nocommit: [layer(R1, 'site.yml')],
  };
  for (const [name, layers] of Object.entries(configurations)) {
    expect((await api.call('PUT', `/v3/configurations/${name}`, { layers })).status).toBe(200);
  }
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.database.db.deleteFrom('components').execute();
});

const get = async (path: string) => (await api.call('GET', path)).body;
const ids = async (query: string, version = 'v3') => {
  const body = await get(`/${version}/components?${query}`);
  return (version === 'v3' ? body.components : body).map((one: { id: string }) => one.id);
};
const entry = (text: string) => {
  const [repository, playbook, commit, status] = text.split(' ');
  const clone_url = repository === 'R1' ? R1 : R2;
  return { clone_url, playbook, commit: { A, B, C }[commit as 'A'], status, session_name: 's' };
};

describe('the vectors of cfs-api 7 through the API', () => {
  // Number, desired configuration, state, error count, retry policy, status, layers.
  test.each<[number, string, string[], number, number | null, string, string[]]>([
    [1, '', [], 0, null, 'unconfigured', []],
    [2, '', ['R1 site.yml A failed'], 9, null, 'configured', []],
    [3, 'gone', [], 0, null, 'unconfigured', []],
    [4, 'two', [], 0, null, 'pending', ['pending', 'pending']],
    [5, 'two', ['R1 site.yml A applied'], 0, null, 'pending', ['configured', 'pending']],
    [6, 'two', ['R1 site.yml A applied', 'R1 net.yml B skipped'], 0, null, 'configured', ['configured', 'configured']],
    [7, 'two', ['R1 site.yml A applied', 'R1 net.yml B failed'], 2, null, 'pending', ['configured', 'pending']],
    [8, 'two', ['R1 site.yml A applied', 'R1 net.yml B failed'], 3, null, 'failed', ['configured', 'failed']],
    [9, 'two', ['R1 net.yml B failed'], 99, -1, 'pending', ['pending', 'pending']],
    [10, 'two', ['R1 net.yml B failed'], 3, 5, 'pending', ['pending', 'pending']],
    [11, 'two', ['R1 site.yml A applied', 'R1 net.yml B applied'], 9, null, 'configured', ['configured', 'configured']],
    [12, 'two', [], 3, null, 'failed', ['pending', 'pending']],
    [13, 'two', ['R1 site.yml C applied', 'R1 net.yml B applied'], 0, null, 'pending', ['pending', 'configured']],
    [14, 'one', ['R2 site.yml A applied'], 0, null, 'pending', ['pending']],
    [15, 'one', ['R1 site.yml A incomplete'], 3, null, 'failed', ['pending']],
    [16, 'empty', [], 0, null, 'configured', []],
    [17, 'nocommit', [], 9, null, 'unconfigured', ['unconfigured']],
    [18, 'one', [], 0, null, 'pending', ['pending']],
    [
      19,
      'three',
      ['R1 site.yml A applied', 'R2 site.yml B failed'],
      3,
      null,
      'failed',
      ['configured', 'failed', 'pending'],
    ],
    [
      20,
      'three',
      ['R1 site.yml A applied', 'R2 site.yml B failed'],
      2,
      null,
      'pending',
      ['configured', 'pending', 'pending'],
    ],
    [
      21,
      'two',
      ['R1 net.yml B failed', 'R1 net.yml B applied', 'R1 site.yml A applied'],
      0,
      null,
      'pending',
      ['configured', 'pending'],
    ],
    [22, 'one', ['R1 site.yml A failed'], 0, 0, 'failed', ['failed']],
    [23, 'one', [], -1, null, 'pending', ['pending']],
    [24, 'empty', [], 9, null, 'configured', []],
    [25, 'one', ['R1 site.yml A skipped', 'R2 net.yml C failed'], 9, null, 'configured', ['configured']],
  ])('%i: %s', async (_number, desired_config, state, error_count, retry_policy, status, layers) => {
    const entries = state.map(entry);
    const body = { desired_config, error_count, ...(retry_policy === null ? {} : { retry_policy }) };
    await api.call('PUT', '/v3/components/x', { ...body, state: entries.filter((one) => one.status !== 'incomplete') });
    for (const one of entries.filter(({ status }) => status === 'incomplete')) {
      const { status: _, ...rest } = one;
      await api.call('PATCH', '/v3/components/x', { state_append: { ...rest, commit: `${one.commit}_incomplete` } });
    }
    const shown = await get('/v3/components/x?config_details=true');
    expect(shown.configuration_status).toBe(status);
    expect(shown.desired_state.map((one: { status: string }) => one.status)).toEqual(layers);
    expect((await get('/v2/components/x')).configurationStatus).toBe(status);
    for (const one of ['unconfigured', 'pending', 'failed', 'configured']) {
      const expected = one === status ? ['x'] : [];
      expect(await ids(`status=${one}`)).toEqual(expected);
      expect(await ids(`status=${one}`, 'v2')).toEqual(expected);
      const matched = await api.call('PATCH', '/v3/components', { patch: {}, filters: { status: one } });
      expect(matched.body.component_ids).toEqual(expected);
    }
  });
});

describe('the write examples of cfs-api 7 through the API', () => {
  const s1 = entry('R1 site.yml A applied');
  test.each<[object, object, object]>([
    [
      { error_count: 2, state: [s1] },
      { state: [], enabled: true },
      { state: [], error_count: 0 },
    ],
    [{ error_count: 2, desired_config: 'one' }, { desired_config: 'one' }, { error_count: 0 }],
    [{ error_count: 2, desired_config: 'one' }, { desired_config: 'two', error_count: 2 }, { error_count: 2 }],
    [
      { state: [s1, entry('R1 net.yml B applied')] },
      { state_append: { clone_url: R1, playbook: 'site.yml', commit: `${C}_failed` }, error_count: 1 },
      {
        error_count: 1,
        state: [expect.objectContaining({ commit: B }), expect.objectContaining({ commit: C, status: 'failed' })],
      },
    ],
    [{ tags: { a: '1', b: '2' } }, { tags: { a: '', c: '3' } }, { tags: { b: '2', c: '3' } }],
  ])('%j, then %j', async (before, patch, after) => {
    for (const form of [
      () => api.call('PATCH', '/v3/components/x', patch),
      () => api.call('PATCH', '/v3/components', [{ id: 'x', ...patch }]),
      () => api.call('PATCH', '/v3/components', { patch, filters: { ids: 'x' } }),
    ]) {
      await api.call('PUT', '/v3/components/x', before);
      expect((await form()).status).toBe(200);
      expect(await get('/v3/components/x?state_details=true')).toMatchObject(after);
    }
  });
});

describe('repeated writes', () => {
  const record = async () => {
    const { state, ...rest } = await get('/v3/components/x?state_details=true');
    return { ...rest, state: state.map(({ last_updated: _, ...one }: { last_updated: string }) => one) };
  };
  test.each<[string, object]>([
    ['PUT', { state: [entry('R1 site.yml A failed')], error_count: 3, tags: { a: '1', b: '' } }],
    [
      'PATCH',
      { state_append: { clone_url: R1, playbook: 'p', commit: `${A}_failed` }, error_count: 3, tags: { z: '' } },
    ],
    ['PATCH', { state: [entry('R1 site.yml B applied')], enabled: true, retry_policy: -1, desired_config: 'one' }],
  ])('%s %j leaves the same record', async (method, body) => {
    await api.call('PUT', '/v3/components/x', { state: [entry('R1 net.yml A applied')], tags: { z: '1' } });
    await api.call(method, '/v3/components/x', body);
    const once = await record();
    api.now.value = new Date(api.now.value.getTime() + 60_000);
    expect((await api.call(method, '/v3/components/x', body)).status).toBe(200);
    expect(await record()).toEqual(once);
  });

  test('DELETE leaves nothing, and what is made again has nothing of the old', async () => {
    await api.call('PUT', '/v3/components/x', {
      state: [entry('R1 net.yml A applied')],
      tags: { z: '1' },
      error_count: 4,
    });
    expect((await api.call('DELETE', '/v3/components/x')).status).toBe(204);
    expect((await api.call('DELETE', '/v3/components/x')).status).toBe(404);
    const { body } = await api.call('PUT', '/v3/components/x', {});
    expect(body).toEqual({ id: 'x', state: [], desired_config: '', error_count: 0, enabled: false, tags: {} });
  });
});

describe('hostile text', () => {
  const hostile = [
    'a/b',
    '...',
    '%2F',
    'a?b#c',
    "'; drop table components; --",
    'ü',
    '\u{1F642}',
    ' ',
    'a,b',
    '"',
    '\\',
    '*',
  ];

  test('in ids: one component each, read, changed and deleted by its path', async () => {
    for (const id of hostile) {
      const path = `/v3/components/${encodeURIComponent(id)}`;
      expect((await api.call('PUT', path, {})).body.id).toBe(id);
      expect((await api.call('PATCH', path, { id, enabled: true })).body).toMatchObject({ id, enabled: true });
      expect((await api.call('GET', path)).body.id).toBe(id);
    }
    const listed = await ids('');
    expect(listed).toEqual([...hostile].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
    const patch = await api.call(
      'PATCH',
      '/v3/components',
      hostile.map((id) => ({ id, tags: { t: id } })),
    );
    expect(patch.body.component_ids).toEqual(hostile);
    for (const id of hostile) {
      expect((await api.call('DELETE', `/v3/components/${encodeURIComponent(id)}`)).status).toBe(204);
    }
    expect(await ids('')).toEqual([]);
  });

  test('in tags: a filter matches the whole text and nothing like it', async () => {
    const texts = hostile.filter((text) => !/[,=]/.test(text));
    await api.call(
      'PUT',
      '/v3/components',
      texts.map((text, index) => ({ id: `c${index}`, tags: { [text]: text, k: text } })),
    );
    for (const [index, text] of texts.entries()) {
      const query = (tags: string) => ids(`tags=${encodeURIComponent(tags)}`);
      expect(await query(`${text}=${text}`)).toEqual([`c${index}`]);
      expect(await query(`k=${text}`)).toEqual([`c${index}`]);
      expect(await query(`k=${text}x`)).toEqual([]);
      expect(await query(`K=${text}`)).toEqual([]);
    }
  });

  test('a filter by ids takes the longest list that a request line holds', async () => {
    await api.call('PUT', '/v3/components', [{ id: 'a' }, { id: 'b' }]);
    const many = Array.from({ length: 20_000 }, (_, index) => `n${index}`).join(',');
    expect(await ids(`ids=${many},b`)).toEqual(['b']);
    expect(await ids(`ids=${many},b&status=unconfigured`)).toEqual(['b']);
  });
});

describe('pages', () => {
  test('by status show each component once while others come and go', async () => {
    const make = (start: number, count: number, extra: object = {}) =>
      Array.from({ length: count }, (_, index) => ({ id: `n${String(start + index).padStart(4, '0')}`, ...extra }));
    await api.call('PUT', '/v3/components', make(0, 300, { desired_config: 'one' }));
    const seen: string[] = [];
    for (
      let query: URLSearchParams | null = new URLSearchParams({ status: 'pending', limit: '40' });
      query !== null;
    ) {
      const { components, next } = await get(`/v3/components?${query}`);
      seen.push(...components.map((one: { id: string }) => one.id));
      const last = seen.at(-1) ?? '';
      await api.call('DELETE', `/v3/components/${last}`);
      // One before the place, which must not come, and one after it, which must.
      await api.call('PUT', `/v3/components/${seen[0]}-late`, { desired_config: 'one' });
      await api.call('PUT', `/v3/components/${last}-new`, { desired_config: 'one' });
      const given = Object.entries(next ?? {}).filter(([, value]) => value !== null);
      query =
        next === null
          ? null
          : new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual([...seen].sort());
    expect(seen.filter((id) => !id.includes('-'))).toEqual(make(0, 300).map((one) => one.id));
    expect(seen.filter((id) => id.endsWith('-late'))).toEqual([]);
    expect(seen.filter((id) => id.endsWith('-new')).length).toBeGreaterThan(5);
  });

  test('by tags take as many pairs as a request holds; of two values for one tag there is nothing', async () => {
    await api.call('PUT', '/v3/components', [
      { id: 'both', tags: { rack: '1', row: '2' } },
      { id: 'one', tags: { rack: '1' } },
    ]);
    for (const version of ['v2', 'v3']) {
      const patch = async (tags: string[]) =>
        api.call('PATCH', `/${version}/components`, { patch: {}, filters: { tags: tags.join(',') } });
      const same = await patch(Array.from({ length: 40_000 }, (_, index) => (index % 2 ? 'rack=1' : 'row=2')));
      expect([same.status, JSON.stringify(same.body).match(/"(both|one)"/g)]).toEqual([200, ['"both"']]);
      const many = await patch(Array.from({ length: 40_000 }, (_, index) => `k${index}=1`));
      expect([many.status, JSON.stringify(many.body)]).toEqual([200, version === 'v2' ? '[]' : '{"component_ids":[]}']);
      const two = await patch(['rack=1', 'row=2', 'rack=2']);
      expect([two.status, JSON.stringify(two.body)]).toEqual([200, version === 'v2' ? '[]' : '{"component_ids":[]}']);
    }
    const list = await api.call('GET', `/v3/components?status=unconfigured&tags=${'rack=1,'.repeat(30_000)}row=2`);
    expect([list.status, list.body.components.map((one: { id: string }) => one.id)]).toEqual([200, ['both']]);
  });

  test('full pages come of filters together', async () => {
    const components = Array.from({ length: 60 }, (_, index) => ({
      id: `n${String(index).padStart(2, '0')}`,
      desired_config: index % 2 ? 'one' : 'two',
      enabled: index % 3 === 0,
      tags: { rack: String(index % 5) },
    }));
    await api.call('PUT', '/v3/components', components);
    const expected = components
      .filter((one) => one.desired_config === 'one' && one.enabled && one.tags.rack === '3')
      .map((one) => one.id);
    const filters = 'status=pending&enabled=TRUE&config_name=one&tags=rack=3';
    expect(await ids(filters)).toEqual(expected);
    const page = await get(`/v3/components?${filters}&limit=1`);
    expect(page.components).toHaveLength(1);
    expect(page.next).toMatchObject({ status: 'pending', enabled: true, config_name: 'one', tags: 'rack=3', limit: 1 });
    expect(await ids(`${filters}&after_id=${expected[0]}`)).toEqual(expected.slice(1));
    const v2 = await ids('status=pending&enabled=true&configName=one&tags=rack=3', 'v2');
    expect(v2).toEqual(expected);
  });
});

describe('bulk writes', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ id: `n${String(index).padStart(5, '0')}` }));

  test('a mistake far behind is named with its place and nothing is stored', async () => {
    const wrong: object[] = many(6_000);
    wrong[5_432] = { id: 'x', tags: { k: 7 } };
    for (const method of ['PUT', 'PATCH']) {
      const answer = await api.call(method, '/v3/components', wrong);
      expect([answer.status, answer.body.title]).toEqual([400, 'Bad Request']);
      expect(answer.body.detail).toContain("'5432.tags.k'");
    }
    const nameless = await api.call('PUT', '/v3/components', (wrong as object[]).with(5_432, {}));
    expect(nameless.body.title).toBe('Error parsing the data provided.');
    expect(nameless.body.detail).toContain('5432');
    expect(await ids('')).toEqual([]);
  });

  test('the first missing one in the order given is named, and nothing changes', async () => {
    await api.call('PUT', '/v3/components', many(3_000));
    const patches = many(3_000).map(({ id }) => ({ id, enabled: true }));
    const body = patches.toSpliced(2_000, 0, { id: 'zz', enabled: true }, { id: 'aa', enabled: true });
    const answer = await api.call('PATCH', '/v3/components', body);
    expect([answer.status, answer.body.detail]).toEqual([404, 'Component zz could not be found']);
    expect(await ids('enabled=true')).toEqual([]);
  });

  test('the filter form takes both spellings of the configuration in both versions', async () => {
    await api.call('PUT', '/v3/components', [
      { id: 'a', desired_config: 'one' },
      { id: 'b', desired_config: 'two' },
    ]);
    for (const version of ['v2', 'v3']) {
      for (const name of ['config_name', 'configName']) {
        const answer = await api.call('PATCH', `/${version}/components`, {
          patch: { enabled: true },
          filters: { [name]: 'one' },
        });
        expect(answer.status).toBe(200);
        const found = version === 'v3' ? answer.body.component_ids : answer.body.map((one: { id: string }) => one.id);
        expect(found).toEqual(['a']);
      }
      const refused = await api.call('PATCH', `/${version}/components`, {
        patch: { enabled: true },
        filters: { config: 'one' },
      });
      expect(refused.status).toBe(400);
    }
    expect(await ids('enabled=true')).toEqual(['a']);
  });

  test('a filter patch that appends, replaces and counts does what single patches do', async () => {
    const patches = [
      { state_append: { clone_url: R1, playbook: 'site.yml', commit: `${B}_incomplete`, session_name: 'n' } },
      { state: [entry('R1 net.yml A failed')], error_count: 5 },
      { state: [], tags: { a: '', b: '2' } },
      { desired_config: 'two', retry_policy: 4, enabled: true },
    ];
    const made = (id: string) => ({ id, state: [entry('R1 site.yml A applied')], error_count: 2, tags: { a: '1' } });
    await api.call('PUT', '/v3/components', [made('by-filter'), made('by-path')]);
    for (const patch of patches) {
      await api.call('PATCH', '/v3/components', { patch, filters: { ids: 'by-filter' } });
      await api.call('PATCH', '/v3/components/by-path', patch);
      const [filtered, single] = (await get('/v3/components?state_details=true')).components;
      expect({ ...filtered, id: '', logs: '' }).toEqual({ ...single, id: '', logs: '' });
    }
  });
});
