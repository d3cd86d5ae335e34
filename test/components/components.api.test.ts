import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

const R1 = 'https://git.example.test/one.git';
const A = 'a'.repeat(40);
const B = 'b'.repeat(40);

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.database.db.deleteFrom('components').execute();
});

const EMPTY = { state: [], desired_config: '', error_count: 0, enabled: false, tags: {} };
const layer = (commit: string, status = 'applied') => ({
  clone_url: R1,
  playbook: 'site.yml',
  commit,
  status,
  session_name: 's1',
});
const ids = (answer: { body: { components: { id: string }[] } }) => answer.body.components.map((one) => one.id);
const get = async (path: string) => (await api.call('GET', path)).body;

describe('one component', () => {
  test('PUT fills what is absent, drops empty tags, and the id of the path wins', async () => {
    const put = await api.call('PUT', '/v3/components/x1', { id: 'other', tags: { a: '1', b: '' } });
    expect([put.status, put.body]).toEqual([200, { ...EMPTY, id: 'x1', tags: { a: '1' } }]);
    expect((await api.call('GET', '/v3/components/other')).status).toBe(404);
    const again = await api.call('PUT', '/v3/components/x1', { retry_policy: -1, enabled: true });
    expect(again.body).toEqual({ ...EMPTY, id: 'x1', retry_policy: -1, enabled: true });
    expect((await api.call('PUT', '/v3/components/x1', {})).body).toEqual({ ...EMPTY, id: 'x1' });
  });

  test('GET shows the status, details only when asked for, and links to logs by option', async () => {
    await api.call('PUT', '/v3/components/x1', { state: [layer(A)] });
    const expected = {
      ...EMPTY,
      id: 'x1',
      configuration_status: 'configured',
      logs: 'http://127.0.0.1:8100/v3/components/x1?state_details=true',
    };
    const { state: _, ...plain } = expected;
    expect(await get('/v3/components/x1')).toEqual(plain);
    const state = [{ ...layer(A), last_updated: '2026-11-21T10:00:00Z' }];
    expect(await get('/v3/components/x1?state_details=true&config_details=True')).toEqual({
      ...plain,
      state,
      desired_state: [],
    });
    await api.call('PATCH', '/v3/options', { include_ara_links: false });
    expect(await get('/v3/components/x1')).not.toHaveProperty('logs');
    await api.call('PATCH', '/v3/options', { include_ara_links: true });
  });

  test('GET, PATCH and DELETE of an unknown one are 404 with its id', async () => {
    for (const [method, body] of [['GET'], ['PATCH', { enabled: true }], ['DELETE']] as const) {
      const answer = await api.call(method, '/v3/components/no%2Fsuch', body);
      expect([answer.status, answer.body.title]).toEqual([404, 'Component not found.']);
      expect(answer.body.detail).toBe('Component no/such could not be found');
    }
  });

  test('PATCH answers the record with its state, without anything computed', async () => {
    await api.call('PUT', '/v3/components/x1', { error_count: 4, desired_config: 'c', tags: { a: '1' } });
    const patch = await api.call('PATCH', '/v3/components/x1', {
      id: 'x1',
      state_append: { clone_url: R1, playbook: 'site.yml', commit: `${A}_failed`, session_name: 's1' },
      error_count: 5,
      tags: { b: '2' },
    });
    expect(patch.body).toEqual({
      ...EMPTY,
      id: 'x1',
      desired_config: 'c',
      error_count: 5,
      tags: { a: '1', b: '2' },
      state: [{ ...layer(A, 'failed'), last_updated: '2026-11-21T10:00:00Z' }],
    });
    expect((await api.call('PATCH', '/v3/components/x1', {})).body).toEqual(patch.body);
  });

  test('another id in a PATCH is refused', async () => {
    await api.call('PUT', '/v3/components/x1', {});
    const answer = await api.call('PATCH', '/v3/components/x1', { id: 'x2' });
    expect([answer.status, answer.body.title]).toEqual([400, 'Bad Request']);
  });

  test.each([
    [{ state_append: {} }, 'clone_url'],
    [{ state_append: { clone_url: R1, playbook: 'p' } }, 'commit'],
    [{ state_append: { clone_url: R1, commit: A } }, 'playbook'],
    [{ state_append: { playbook: 'p', commit: A } }, 'clone_url'],
    [{ state_append: { clone_url: R1, playbook: 'p', commit: 'a_b_failed' } }, 'state_append.commit'],
    [{ state_append: { clone_url: R1, playbook: 'p', commit: 'a_done' } }, 'state_append.commit'],
    [{ state_append: { clone_url: R1, playbook: 'p', commit: A, status: 'incomplete' } }, 'state_append.status'],
    [{ state_append: { clone_url: R1, playbook: 'p', commit: A, last_updated: 'x' } }, 'state_append.last_updated'],
    [{ state: [{ ...layer(A), status: undefined }] }, 'state.0'],
    [{ error_count: 1.5 }, 'error_count'],
    [{ error_count: '1' }, 'error_count'],
    [{ retry_policy: null }, 'retry_policy'],
    [{ error_count: 1e300 }, 'error_count'],
    [{ enabled: 'true' }, 'enabled'],
    [{ desired_config: 7 }, 'desired_config'],
    [{ tags: ['a'] }, 'tags'],
    [{ id: '' }, 'id'],
  ])('PATCH %j is 400', async (body, named) => {
    await api.call('PUT', '/v3/components/x1', {});
    const answer = await api.call('PATCH', '/v3/components/x1', body);
    expect([answer.status, answer.body.title]).toEqual([400, 'Bad Request']);
    expect(answer.body.detail).toContain(named);
    expect((await get('/v3/components/x1?state_details=true')).state).toEqual([]);
  });

  test('a number with a fraction is no integer, even 10.0', async () => {
    for (const number of ['10.0', '1e1', '-0.0']) {
      expect((await api.call('PUT', '/v3/components/x1', `{"error_count": ${number}}`)).status).toBe(400);
    }
    expect((await api.call('PUT', '/v3/components/x1', '{"error_count": -10, "tags": {"a": "1, 2.0"}}')).status).toBe(
      200,
    );
  });

  test('60 characters of any kind are a name of 60', async () => {
    expect((await api.call('PUT', '/v3/components/x1', { desired_config: '🙂'.repeat(60) })).status).toBe(200);
    expect((await api.call('PUT', '/v3/components/x1', { desired_config: '🙂'.repeat(61) })).status).toBe(400);
  });

  test('an id that no index can hold is refused', async () => {
    expect((await api.call('PUT', `/v3/components/${'x'.repeat(601)}`, {})).status).toBe(400);
    expect((await api.call('PUT', '/v3/components', [{ id: 'x'.repeat(601) }])).status).toBe(400);
    expect((await api.call('PUT', `/v3/components/${encodeURIComponent('🙂'.repeat(600))}`, {})).status).toBe(200);
  });

  test('DELETE is 204 without a body, then 404', async () => {
    await api.call('PUT', '/v3/components/x1', {});
    const answer = await api.call('DELETE', '/apis/cfs/v3/components/x1');
    expect([answer.status, answer.body]).toEqual([204, '']);
    expect((await api.call('DELETE', '/v3/components/x1')).status).toBe(404);
  });
});

describe('desired state', () => {
  test('shows the layers of the current configuration with their statuses; a source counts with its clone URL', async () => {
    const credentials = { username: 'u', password: 'p' };
    await api.call('POST', '/v3/sources', { name: 'src', clone_url: R1, credentials });
    const layers = [
      { source: 'src', playbook: 'site.yml', commit: A, name: 'first' },
      { clone_url: R1, playbook: 'net.yml', commit: B, special_parameters: { ims_require_dkms: true } },
      { clone_url: R1, playbook: 'open.yml' },
    ];
    await api.call('PUT', '/v3/configurations/conf', { layers: layers.slice(0, 2) });
    await api.call('PUT', '/v3/components/x1', { desired_config: 'conf', state: [layer(A)] });
    const one = await get('/v3/components/x1?config_details=true');
    expect(one.configuration_status).toBe('pending');
    expect(one.desired_state).toEqual([
      { ...layers[0], clone_url: R1, status: 'configured' },
      { ...layers[1], status: 'pending' },
    ]);
    await api.call('PUT', '/v3/configurations/conf', { layers });
    expect((await get('/v3/components/x1')).configuration_status).toBe('unconfigured');
    await api.call('PUT', '/v3/configurations/conf', { layers: layers.slice(0, 1) });
    expect((await get('/v3/components/x1')).configuration_status).toBe('configured');
    expect((await get('/v3/components?status=configured')).components).toHaveLength(1);
  });
});

describe('lists', () => {
  beforeEach(async () => {
    await api.call('PUT', '/v3/components', [
      { id: 'b', enabled: true, desired_config: 'none', tags: { role: 'web', zone: '1' } },
      { id: 'a', tags: { role: 'web' } },
      { id: 'Z', state: [layer(A)] },
      { id: '\u{1F642}', enabled: true },
      { id: '\uFFFD' },
    ]);
  });

  test('come in the order of code points', async () => {
    expect(ids(await api.call('GET', '/v3/components'))).toEqual(['Z', 'a', 'b', '\uFFFD', '\u{1F642}']);
  });

  test.each<[string, string[]]>([
    ['ids=b,a,none', ['a', 'b']],
    ['ids=,', []],
    ['status=configured', ['Z']],
    ['status=unconfigured', ['a', 'b', '\uFFFD', '\u{1F642}']],
    ['status=failed', []],
    ['enabled=true', ['b', '\u{1F642}']],
    ['enabled=false&ids=a,b', ['a']],
    ['config_name=none', ['b']],
    ['tags=role%3Dweb', ['a', 'b']],
    ['tags=role=web,zone=1', ['b']],
    ['tags=role=web,role=db', []],
    ['tags=none=', []],
    ['after_id=aa', ['b', '\uFFFD', '\u{1F642}']],
  ])('?%s', async (query, expected) => {
    expect(ids(await api.call('GET', `/v3/components?${query}`))).toEqual(expected);
  });

  test('next carries every parameter and leads through all pages, filters before the limit', async () => {
    const first = (await api.call('GET', '/v3/components?limit=2&status=unconfigured&state_details=true')).body;
    expect(first.next).toEqual({
      ids: '',
      status: 'unconfigured',
      enabled: null,
      config_name: '',
      state_details: true,
      config_details: false,
      tags: '',
      limit: 2,
      after_id: 'b',
    });
    const query = new URLSearchParams(
      Object.entries(first.next)
        .filter(([, value]) => value !== null)
        .map(([name, value]) => [name, String(value)] as [string, string]),
    );
    const second = await api.call('GET', `/v3/components?${query}`);
    expect([ids(second), second.body.next]).toEqual([['\uFFFD', '\u{1F642}'], null]);
  });

  test('the limit without a parameter is the option', async () => {
    await api.call('PATCH', '/v3/options', { default_page_size: 3 });
    const { body } = await api.call('GET', '/v3/components');
    expect([body.components.length, body.next.limit, body.next.after_id]).toEqual([3, 3, 'b']);
    await api.call('PATCH', '/v3/options', { default_page_size: 1000 });
  });
});

describe('bulk PUT', () => {
  test('answers the ids in the order given; of two equal ones the later stands', async () => {
    const answer = await api.call('PUT', '/v3/components', [
      { id: 'b', error_count: 1 },
      { id: 'a' },
      { id: 'b', error_count: 2 },
    ]);
    expect([answer.status, answer.body]).toEqual([200, { component_ids: ['b', 'a', 'b'] }]);
    expect((await get('/v3/components/b')).error_count).toBe(2);
  });
  test('of nothing is fine', async () => {
    expect((await api.call('PUT', '/v3/components', [])).body).toEqual({ component_ids: [] });
  });
  test.each([[{}], [{ id: 'a' }], ['x']])('of %j is 400', async (body) => {
    expect((await api.call('PUT', '/v3/components', body)).status).toBe(400);
  });
  test('an entry without id stores nothing', async () => {
    const answer = await api.call('PUT', '/v3/components', [{ id: 'a' }, { enabled: true }]);
    expect([answer.status, answer.body.title]).toEqual([400, 'Error parsing the data provided.']);
    expect(answer.body.detail).toContain("'id'");
    expect(ids(await api.call('GET', '/v3/components'))).toEqual([]);
  });
  test('a mistake names the entry', async () => {
    const answer = await api.call('PUT', '/v3/components', [{ id: 'a' }, { id: 'b', tags: { k: 1 } }]);
    expect(answer.body.detail).toContain("'1.tags.k'");
  });
});

describe('PATCH, list form', () => {
  beforeEach(async () => {
    await api.call('PUT', '/v3/components', [{ id: 'a' }, { id: 'b' }]);
  });
  test('applies in order, an id may come again', async () => {
    const answer = await api.call('PATCH', '/v3/components', [
      { id: 'b', tags: { k: '1' } },
      { id: 'a', enabled: true },
      { id: 'b', tags: { k: '', l: '2' } },
    ]);
    expect(answer.body).toEqual({ component_ids: ['b', 'a', 'b'] });
    expect((await get('/v3/components/b')).tags).toEqual({ l: '2' });
  });
  test('an unknown id is 404 for the first missing one, and nothing changes', async () => {
    const answer = await api.call('PATCH', '/v3/components', [{ id: 'a', enabled: true }, { id: 'n2' }, { id: 'n1' }]);
    expect([answer.status, answer.body.detail]).toEqual([404, 'Component n2 could not be found']);
    expect((await get('/v3/components/a')).enabled).toBe(false);
  });
  test('of nothing is 200, without id 400', async () => {
    expect((await api.call('PATCH', '/v3/components', [])).body).toEqual({ component_ids: [] });
    const answer = await api.call('PATCH', '/v3/components', [{ enabled: true }]);
    expect([answer.status, answer.body.title]).toEqual([400, 'Error parsing the data provided.']);
  });
});

describe('PATCH, filter form', () => {
  beforeEach(async () => {
    await api.call('PUT', '/v3/components', [
      { id: 'b', desired_config: 'conf', tags: { r: 'w' } },
      { id: 'a', state: [layer(A)] },
      { id: 'c', enabled: true },
    ]);
  });
  test.each<[object, string[]]>([
    [{}, ['a', 'b', 'c']],
    [{ ids: 'c,a' }, ['a', 'c']],
    [{ status: 'configured' }, ['a']],
    [{ status: '' }, ['a', 'b', 'c']],
    [{ enabled: false }, ['a', 'b']],
    [{ config_name: 'conf' }, ['b']],
    [{ configName: 'conf' }, ['b']],
    [{ tags: 'r=w' }, ['b']],
    [{ tags: 'r=none' }, []],
    [{ ids: 'a,b', enabled: false }, ['a', 'b']],
  ])('filters %j', async (filters, expected) => {
    const answer = await api.call('PATCH', '/v3/components', {
      patch: { id: 'ignored', tags: { t: '1' } },
      filters,
      more: null,
    });
    expect([answer.status, answer.body]).toEqual([200, { component_ids: expected }]);
    expect(ids(await api.call('GET', '/v3/components?tags=t=1'))).toEqual(expected);
  });
  test.each([
    [{ patch: {} }],
    [{ filters: {} }],
    [{}],
    [{ patch: [], filters: {} }],
    [{ patch: { nope: 1 }, filters: {} }],
    [{ patch: {}, filters: { status: 'failed,pending' } }],
    [{ patch: {}, filters: { enabled: 'true' } }],
    [{ patch: {}, filters: { ids: null } }],
    [{ patch: {}, filters: { ids: ['a'] } }],
    [{ patch: {}, filters: { id: 'a' } }],
    [{ patch: { error_count: 0 }, filters: { ids: 'a', desired: 'x' } }],
  ])('%j is 400', async (body) => {
    const answer = await api.call('PATCH', '/v3/components', body);
    expect([answer.status, answer.body.title]).toEqual([400, 'Bad Request']);
  });
  test('a bad tag filter has its own title', async () => {
    const answer = await api.call('PATCH', '/v3/components', { patch: {}, filters: { tags: 'x' } });
    expect([answer.status, answer.body.title]).toEqual([400, 'Error parsing the tags provided.']);
  });
  test('an unknown filter is refused beside known ones, which the answer names', async () => {
    const answer = await api.call('PATCH', '/v3/components', { patch: {}, filters: { ids: 'a', desired: 'x' } });
    expect(answer.body.detail).toBe(
      "There is no filter 'desired': known are ids, status, enabled, config_name, tags - 'filters'",
    );
  });
});
