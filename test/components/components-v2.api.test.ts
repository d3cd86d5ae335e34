import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

const R1 = 'https://git.example.test/one.git';
const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const NOW = '2026-11-21T10:00:00Z';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.database.db.deleteFrom('components').execute();
  await api.call('PATCH', '/v3/options', { default_page_size: 1000 });
});

const EMPTY = { state: [], desiredConfig: '', errorCount: 0, enabled: false, tags: {} };
const layer = (commit: string) => ({ cloneUrl: R1, playbook: 'site.yml', commit, sessionName: 's1' });
const v3Layer = (commit: string, status: string) => ({
  clone_url: R1,
  playbook: 'site.yml',
  commit,
  status,
  session_name: 's1',
});
const v2 = async (path: string) => (await api.call('GET', `/v2/components${path}`)).body;
const v3 = async (path: string) => (await api.call('GET', `/v3/components${path}?state_details=true`)).body;

describe('one component', () => {
  test('PUT stores by the id of the path; GET shows the state without being asked', async () => {
    const body = { id: 'other', state: [layer(`${A}_failed`)], desiredConfig: 'c', errorCount: 2, retryPolicy: 5 };
    const put = await api.call('PUT', '/v2/components/x1', body);
    const record = {
      ...EMPTY,
      id: 'x1',
      state: [{ ...layer(`${A}_failed`), lastUpdated: NOW }],
      desiredConfig: 'c',
      errorCount: 2,
      retryPolicy: 5,
    };
    expect([put.status, put.body]).toEqual([200, record]);
    expect(await v2('/x1')).toEqual({ ...record, configurationStatus: 'configured' });
    expect(await v2('/x1?configDetails=true')).toEqual({
      ...record,
      configurationStatus: 'configured',
      desiredState: [],
    });
    expect(await v3('/x1')).toMatchObject({
      desired_config: 'c',
      error_count: 2,
      retry_policy: 5,
      state: [{ ...v3Layer(A, 'failed'), last_updated: NOW }],
    });
    expect((await api.call('GET', '/v3/components/other')).status).toBe(404);
  });

  test('what v3 wrote is shown with suffixes, and nothing of v3 alone', async () => {
    await api.call('PUT', '/v3/components/x1', { state: [v3Layer(A, 'skipped')], tags: { some_tag: '1' } });
    await api.call('PATCH', '/v3/components/x1', {
      state_append: { clone_url: 'u2', playbook: 'p', commit: `${B}_incomplete`, session_name: 's2' },
    });
    const shown = await v2('/x1?configDetails=true');
    expect(shown.state.map((entry: { commit: string }) => entry.commit)).toEqual([`${A}_skipped`, `${B}_incomplete`]);
    expect(Object.keys(shown).sort()).toEqual([
      'configurationStatus',
      'desiredConfig',
      'desiredState',
      'enabled',
      'errorCount',
      'id',
      'state',
      'tags',
    ]);
    expect(Object.keys(shown.state[0]).sort()).toEqual([
      'cloneUrl',
      'commit',
      'lastUpdated',
      'playbook',
      'sessionName',
    ]);
    expect(shown.tags).toEqual({ some_tag: '1' });
  });

  test('stateAppend takes the place of an older report, errorCount follows the rules', async () => {
    await api.call('PUT', '/v2/components/x1', { state: [layer(A)], errorCount: 2 });
    const patch = await api.call('PATCH', '/v2/components/x1', { stateAppend: layer(`${B}_failed`), errorCount: 3 });
    expect([patch.status, patch.body]).toEqual([
      200,
      { ...EMPTY, id: 'x1', state: [{ ...layer(`${B}_failed`), lastUpdated: NOW }], errorCount: 3 },
    ]);
    expect((await api.call('PATCH', '/v2/components/x1', { desiredConfig: 'two' })).body.errorCount).toBe(0);
    expect((await api.call('PATCH', '/v2/components/x1', { tags: { a: '1' } })).body.tags).toEqual({ a: '1' });
    expect((await api.call('PATCH', '/v2/components/x1', { tags: { a: '' } })).body.tags).toEqual({});
  });

  test('desiredState shows of each layer what v2 knows', async () => {
    const layers = [{ name: 'one', clone_url: R1, playbook: 'site.yml', commit: A }];
    await api.call('PUT', '/v3/configurations/conf', { layers });
    await api.call('PUT', '/v2/components/x1', { desiredConfig: 'conf' });
    expect(await v2('/x1?configDetails=True')).toMatchObject({
      configurationStatus: 'pending',
      desiredState: [{ cloneUrl: R1, playbook: 'site.yml', commit: A }],
    });
    expect((await v2('/x1?configDetails=true')).desiredState[0]).not.toHaveProperty('status');
    expect(await v2('/x1?config_details=true')).not.toHaveProperty('desiredState');
    await api.call('DELETE', '/v2/components/x1');
  });

  test('a name of a configuration may be longer than v3 takes, up to what can be stored', async () => {
    const put = await api.call('PUT', '/v2/components/x1', { desiredConfig: 'c'.repeat(600) });
    expect(put.status).toBe(200);
    expect((await v3('/x1')).desired_config).toBe('c'.repeat(600));
    expect((await api.call('PUT', '/v2/components/x1', { desiredConfig: 'c'.repeat(601) })).status).toBe(400);
    expect((await api.call('PUT', '/v3/components/x1', { desired_config: 'c'.repeat(61) })).status).toBe(400);
  });

  test.each<[object, string]>([
    [{ desired_config: 'c' }, "unknown member 'desired_config' ("],
    [{ error_count: 1 }, "unknown member 'error_count' ("],
    [{ state_append: {} }, "unknown member 'state_append' ("],
    [{ logs: '' }, "unknown member 'logs' ("],
    [{ state: [{ ...layer(A), status: 'failed' }] }, "unknown member 'status' ("],
    [{ state: [layer(A), { ...layer(A), lastUpdated: NOW }] }, "Property is read-only - 'state.1.lastUpdated'"],
    [{ state: [{ ...layer(A), cloneUrl: undefined }] }, "'cloneUrl' is a required property - 'state.0'"],
    [{ state: [{ ...layer(A), sessionName: undefined }] }, "'sessionName' is a required property - 'state.0'"],
    [{ state: [layer(`${A}_incomplete`)] }, "'state.0.commit'"],
    [{ state: [layer('a_b_failed')] }, "'state.0.commit'"],
    [{ stateAppend: layer('a_b') }, "'stateAppend.commit'"],
    [{ stateAppend: { cloneUrl: R1, playbook: 'p' } }, "'commit' is a required property - 'stateAppend'"],
    [{ stateAppend: { ...layer(A), status: 'failed' } }, "unknown member 'status' ("],
    [{ configurationStatus: 'failed' }, "Property is read-only - 'configurationStatus'"],
    [{ desiredState: [] }, "Property is read-only - 'desiredState'"],
    [{ retryPolicy: null }, "'retryPolicy'"],
    [{ errorCount: 1.5 }, "'errorCount'"],
    [{ tags: { some_tag: 1 } }, "'tags.some_tag'"],
    [{ id: 'x2' }, "- 'id'"],
  ])('PATCH %j is 400 and named as v2 does', async (body, named) => {
    await api.call('PUT', '/v2/components/x1', {});
    const answer = await api.call('PATCH', '/v2/components/x1', body);
    expect([answer.status, answer.body.title]).toEqual([400, 'Bad Request']);
    expect(answer.body.detail).toContain(named);
    expect(await v2('/x1')).toMatchObject(EMPTY);
  });

  test('DELETE is 204, then everything is 404', async () => {
    await api.call('PUT', '/v2/components/x1', {});
    expect((await api.call('DELETE', '/apis/cfs/v2/components/x1')).status).toBe(204);
    for (const [method, body] of [['GET'], ['PATCH', {}], ['DELETE'], ['HEAD']] as const) {
      const answer = await api.call(method, '/v2/components/x1', body);
      expect(answer.status).toBe(404);
      if (method !== 'HEAD') expect(answer.body.detail).toBe('Component x1 could not be found');
    }
  });
});

describe('lists', () => {
  const ids = (answer: { body: { id: string }[] }) => answer.body.map((one) => one.id);

  test.each([
    ['', ['a', 'b', 'c']],
    ['?ids=c,a', ['a', 'c']],
    ['?ids=', ['a', 'b', 'c']],
    ['?enabled=true', ['b']],
    ['?configName=gone', ['c']],
    ['?config_name=gone', ['a', 'b', 'c']],
    ['?tags=r=w', ['a', 'b']],
    ['?tags=r=w&enabled=false', ['a']],
    ['?status=configured', ['b']],
    ['?status=unconfigured&configName=', ['a', 'c']],
    ['?limit=1&after_id=b&state_details=no', ['a', 'b', 'c']],
  ])('%s', async (query, expected) => {
    await api.call('PUT', '/v2/components', [
      { id: 'c', desiredConfig: 'gone' },
      { id: 'a', tags: { r: 'w' } },
      { id: 'b', tags: { r: 'w' }, enabled: true, state: [layer(A)] },
    ]);
    const answer = await api.call('GET', `/v2/components${query}`);
    expect([answer.status, ids(answer)]).toEqual([200, expected]);
  });

  test.each(['status=', 'status=failed,pending', 'status=Failed', 'enabled=1', 'enabled=', 'configDetails=1'])(
    '?%s is 400',
    async (query) => {
      expect((await api.call('GET', `/v2/components?${query}`)).status).toBe(400);
    },
  );

  test('more than default_page_size match: 400 with its own title; filters are applied before', async () => {
    const many = Array.from({ length: 8 }, (_, index) => ({ id: `n${index}`, enabled: index < 5 }));
    await api.call('PUT', '/v2/components', many);
    await api.call('PATCH', '/v3/options', { default_page_size: 5 });
    const answer = await api.call('GET', '/v2/components');
    expect([answer.status, answer.body.title]).toEqual([400, 'The response size is too large']);
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect((await api.call('GET', '/v2/components?enabled=true')).body).toHaveLength(5);
    expect((await api.call('GET', '/v2/components?status=unconfigured')).status).toBe(400);
    await api.call('DELETE', '/v2/components/n0');
    expect((await api.call('GET', '/v2/components?enabled=true')).body).toHaveLength(4);
  });

  test('a list of several batches is complete, and one above the limit is refused before it begins', async () => {
    const many = Array.from({ length: 4_500 }, (_, index) => ({ id: `n${String(index).padStart(5, '0')}` }));
    await api.call('PATCH', '/v3/options', { default_page_size: 4_500 });
    await api.call('PUT', '/v2/components', many);
    const all = await api.call('GET', '/v2/components');
    expect([all.status, ids(all)]).toEqual([200, many.map(({ id }) => id)]);
    expect(all.headers['content-type']).toBe('application/json');
    expect(all.body[4_499]).toEqual({ ...EMPTY, id: 'n04499', configurationStatus: 'unconfigured' });
    await api.call('PATCH', '/v3/options', { default_page_size: 4_499 });
    expect((await api.call('GET', '/v2/components')).body.title).toBe('The response size is too large');
  });
});

describe('many at once', () => {
  test('PUT answers the records in the order given; the last of one id stands', async () => {
    const answer = await api.call('PUT', '/v2/components', [
      { id: 'b', enabled: true },
      { id: 'a', errorCount: 1 },
      { id: 'b', errorCount: 2 },
    ]);
    expect([answer.status, answer.body]).toEqual([
      200,
      [
        { ...EMPTY, id: 'b', enabled: true },
        { ...EMPTY, id: 'a', errorCount: 1 },
        { ...EMPTY, id: 'b', errorCount: 2 },
      ],
    ]);
    expect(await v2('/b')).toMatchObject({ enabled: false, errorCount: 2 });
    expect((await api.call('PUT', '/v2/components', [])).body).toEqual([]);
    expect((await api.call('PUT', '/v2/components', {})).status).toBe(400);
    expect((await api.call('PUT', '/v2/components', [{}])).body.title).toBe('Error parsing the data provided.');
  });

  test('PATCH of a list shows the record after each step', async () => {
    await api.call('PUT', '/v2/components', [{ id: 'a' }, { id: 'b' }]);
    const answer = await api.call('PATCH', '/v2/components', [
      { id: 'a', stateAppend: layer(A) },
      { id: 'b', errorCount: 1 },
      { id: 'a', stateAppend: layer(`${B}_failed`), errorCount: 4 },
    ]);
    expect([answer.status, answer.body]).toEqual([
      200,
      [
        { ...EMPTY, id: 'a', state: [{ ...layer(A), lastUpdated: NOW }] },
        { ...EMPTY, id: 'b', errorCount: 1 },
        { ...EMPTY, id: 'a', state: [{ ...layer(`${B}_failed`), lastUpdated: NOW }], errorCount: 4 },
      ],
    ]);
    expect((await api.call('PATCH', '/v2/components', [])).body).toEqual([]);
  });

  test('PATCH of a list with an unknown id changes nothing', async () => {
    await api.call('PUT', '/v2/components/a', {});
    const answer = await api.call('PATCH', '/v2/components', [
      { id: 'a', enabled: true },
      { id: 'zz', enabled: true },
      { id: 'yy', enabled: true },
    ]);
    expect([answer.status, answer.body.detail]).toEqual([404, 'Component zz could not be found']);
    expect((await v2('/a')).enabled).toBe(false);
    const wrong = await api.call('PATCH', '/v2/components', [{ id: 'a' }, { id: 'a', error_count: 1 }]);
    expect(wrong.body.detail).toContain("'1'");
  });

  test.each<[object, string[]]>([
    [{}, ['a', 'b', 'c']],
    [{ ids: 'c,a' }, ['a', 'c']],
    [{ status: 'configured' }, ['b']],
    [{ enabled: false }, ['a', 'c']],
    [{ configName: 'conf' }, ['c']],
    [{ config_name: 'conf' }, ['c']],
    [{ tags: 'r=w' }, ['a']],
    [{ ids: 'none' }, []],
  ])('PATCH with filters %j answers the records after it', async (filters, expected) => {
    await api.call('PUT', '/v2/components', [
      { id: 'c', desiredConfig: 'conf' },
      { id: 'a', tags: { r: 'w' } },
      { id: 'b', enabled: true, state: [layer(A)] },
    ]);
    const patch = { id: 'ignored', errorCount: 7 };
    const answer = await api.call('PATCH', '/v2/components', { patch, filters, more: 1 });
    expect(answer.status).toBe(200);
    expect(answer.body.map((one: { id: string }) => one.id)).toEqual(expected);
    for (const one of answer.body) {
      expect(one.errorCount).toBe(7);
      expect(one.configurationStatus).toMatch(/^(unconfigured|failed|pending|configured)$/);
      expect(await v2(`/${one.id}`)).toMatchObject(one);
    }
    expect(
      (await api.call('GET', '/v2/components')).body.filter((one: { errorCount: number }) => one.errorCount === 7),
    ).toHaveLength(expected.length);
  });

  test.each([
    { patch: {} },
    { filters: {} },
    {},
    { patch: { error_count: 1 }, filters: {} },
    { patch: {}, filters: { status: '' } },
    { patch: {}, filters: { status: 'failed,pending' } },
    { patch: {}, filters: { enabled: 'true' } },
    { patch: {}, filters: { id: 'a' } },
    { patch: {}, filters: { config_name: null } },
  ])('PATCH %j is 400', async (body) => {
    expect((await api.call('PATCH', '/v2/components', body)).status).toBe(400);
  });

  test('a filter patch of several batches answers all of them', async () => {
    const many = Array.from({ length: 1_700 }, (_, index) => ({ id: `n${String(index).padStart(5, '0')}` }));
    await api.call('PUT', '/v3/components', many);
    const answer = await api.call('PATCH', '/v2/components', { patch: { enabled: true }, filters: {} });
    const configurationStatus = 'unconfigured';
    expect(answer.body).toEqual(many.map(({ id }) => ({ ...EMPTY, id, enabled: true, configurationStatus })));
  });

  test.each([['PUT'], ['PATCH']])('%s of several batches comes again word by word under one key', async (method) => {
    const many = Array.from({ length: 1_700 }, (_, index) => ({ id: `n${index}`, errorCount: index }));
    await api.call('PUT', '/v2/components', many);
    const headers = { 'idempotency-key': `bulk-${method}` };
    const first = await api.call(method, '/v2/components', many, headers);
    expect(first.body).toEqual(many.map((one) => ({ ...EMPTY, ...one })));
    await api.call('PATCH', '/v2/components', { patch: { enabled: true }, filters: {} });
    const again = await api.call(method, '/v2/components', many, headers);
    expect([again.body, again.headers['idempotency-replayed']]).toEqual([first.body, 'true']);
    expect((await v2('/n5')).enabled).toBe(true);
    await api.call('DELETE', '/v2/components/n5');
  });
});
