/** Hostlists, selections of components, and actions on many of them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { createTokenApi } from '../support/stack/token-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());

const URL = 'https://git.example.test/one.git';
const layer = { clone_url: URL, playbook: 'site.yml', commit: 'a'.repeat(40), status: 'failed', session_name: 's' };
const select = (body: unknown) => api.call('POST', '/api/v1/components/selections', body);
const act = (body: unknown) => api.call('POST', '/api/v1/components/actions', body);
const get = async (id: string) => (await api.call('GET', `/v3/components/${id}?state_details=true`)).body;
const audit = async () => (await api.call('GET', '/api/v1/audit?limit=1000')).body.records.length;

beforeEach(async () => {
  const { components } = (await api.call('GET', '/v3/components?limit=1000')).body;
  for (const { id } of components) await api.call('DELETE', `/v3/components/${id}`);
  await api.call('PUT', '/v3/configurations/A', {
    layers: [{ clone_url: URL, playbook: 'site.yml', commit: 'a'.repeat(40) }],
  });
  const nodes = Array.from({ length: 12 }, (_, index) => ({
    id: `n${index + 1}`,
    enabled: index < 6,
    tags: { role: index % 2 === 0 ? 'odd' : 'even' },
    ...(index < 3 ? { desired_config: 'A', error_count: 3, state: [layer] } : {}),
    ...(index === 3 ? { desired_config: 'A' } : {}),
  }));
  expect((await api.call('PUT', '/v3/components', nodes)).status).toBe(200);
});

describe('hostlists', () => {
  test('names in natural order, members of tags', async () => {
    const expand = async (hosts: string) => (await api.call('POST', '/api/v1/hostlists', { hosts })).body.names;
    expect(await expand('n[9-10],a')).toEqual(['a', 'n9', 'n10']);
    expect(await expand('@role=even,!n[1-4]')).toEqual(['n6', 'n8', 'n10', 'n12']);
    expect(await expand('@role=nobody')).toEqual([]);
  });

  test.each([
    ['n[3-1]', 'bad_hostlist', 2],
    ['n[0-999999]', 'hostlist_too_large', 0],
  ])('%s is refused with its place', async (hosts, code, position) => {
    const { status, body } = await api.call('POST', '/api/v1/hostlists', { hosts });
    expect([status, body.code, body.position, body.errors[0].position]).toEqual([400, code, position, position]);
    const selected = await select({ filter: { hosts } });
    expect([selected.status, selected.body.code, selected.body.position]).toEqual([400, code, position]);
  });

  test.each([{}, { hosts: 7 }, { hosts: null }, { hosts: 'a', more: 1 }, []])(
    'the body %j is refused',
    async (body) => {
      expect((await api.call('POST', '/api/v1/hostlists', body)).status).toBe(400);
    },
  );
});

describe('selections', () => {
  test('by filter: count, statuses and sample', async () => {
    const { status, body } = await select({ filter: {} });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      count: 12,
      by_status: { failed: 3, pending: 1, unconfigured: 8, configured: 0 },
      unknown: [],
    });
    expect(body.sample).toHaveLength(12);
    expect(Date.parse(body.expires_at)).toBeGreaterThan(0);
    const failed = (await select({ filter: { status: 'failed', hosts: 'n[1-2,12],gone', enabled: true } })).body;
    expect([failed.count, failed.sample, failed.unknown]).toEqual([2, ['n1', 'n2'], ['gone']]);
    expect((await select({ filter: { tags: 'role=odd', config_name: 'A' } })).body.sample).toEqual(['n1', 'n3']);
    expect((await select({ filter: { changed_since: '2200-01-01T00:00:00Z' } })).body.count).toBe(0);
  });

  test('by ids, which may be of no component', async () => {
    const { body } = await select({ ids: ['n2', 'x', 'n1', 'n2'] });
    expect([body.count, body.sample, body.unknown]).toEqual([2, ['n1', 'n2'], ['x']]);
  });

  test.each([
    {},
    { filter: {}, ids: ['n1'] },
    { ids: [] },
    { ids: [7] },
    { filter: { suceeded: true } },
    { filter: { status: 'bad' } },
    { filter: { changed_since: 'yesterday' } },
    { filter: { tags: 'role' } },
  ])('%j is refused', async (body) => {
    expect((await select(body)).status).toBe(400);
  });
});

describe('actions', () => {
  test('change what was chosen, whatever its status is then', async () => {
    const { id } = (await select({ filter: { status: 'failed' } })).body;
    await api.call('PATCH', '/v3/components/n1', { error_count: 0 });
    await api.call('DELETE', '/v3/components/n2');
    const { status, body } = await act({ action: 'reset_errors', selection: id });
    expect([status, body]).toEqual([200, { changed: 1, unchanged: 1, vanished: ['n2'], warnings: [] }]);
    expect(await get('n3')).toMatchObject({ error_count: 0, state: [{ status: 'failed' }] });
  });

  test.each<[string, object, object]>([
    ['enable', {}, { enabled: true }],
    ['disable', {}, { enabled: false }],
    ['clear_state', {}, { state: [], error_count: 0 }],
    ['reset_errors', {}, { error_count: 0 }],
    ['set_desired', { args: { desired_config: 'A' } }, { desired_config: 'A', error_count: 0 }],
    ['set_tags', { args: { tags: { role: '', rack: 'r1' } } }, { tags: { rack: 'r1' } }],
    ['set', { args: { retry_policy: 7, tags: { a: 'b' } } }, { retry_policy: 7, tags: { a: 'b', role: 'odd' } }],
  ])('%s, and again nothing', async (action, rest, expected) => {
    const hosts = action === 'disable' ? 'n1' : action === 'enable' ? 'n11' : 'n1';
    const body = { action, selection: { filter: { hosts } }, ...rest };
    expect((await act(body)).body).toEqual({ changed: 1, unchanged: 0, vanished: [], warnings: [] });
    expect(await get(hosts)).toMatchObject(expected);
    const before = await audit();
    expect((await act(body)).body).toEqual({ changed: 0, unchanged: 1, vanished: [], warnings: [] });
    expect(await audit()).toBe(before);
  });

  test('delete', async () => {
    const { body } = await act({ action: 'delete', selection: { ids: ['n1', 'n2', 'gone'] } });
    expect(body).toEqual({ changed: 2, unchanged: 0, vanished: ['gone'], warnings: [] });
    expect((await get('n1')).code).toBe('component_not_found');
    expect((await get('n3')).id).toBe('n3');
  });

  test('a configuration that does not exist is a warning', async () => {
    const body = { action: 'set_desired', selection: { ids: ['n5'] }, args: { desired_config: 'nope' } };
    expect((await act(body)).body).toMatchObject({ changed: 1, warnings: ['There is no configuration nope.'] });
  });

  test('each changed component has its record of who did what', async () => {
    const before = await audit();
    await act({ action: 'disable', selection: { filter: { hosts: 'n[1-3]' } } });
    expect(await audit()).toBe(before + 3);
  });

  test('a selection that is unknown, or whose time is over, is gone', async () => {
    const unknown = await act({ action: 'enable', selection: '5f0c8d0e-1111-4222-8333-123456789abc' });
    expect([unknown.status, unknown.body.code]).toEqual([410, 'selection_gone']);
    const { id } = (await select({ ids: ['n1'] })).body;
    api.now.value = new Date(api.now.value.getTime() + 15 * 60_000);
    const late = await act({ action: 'enable', selection: id });
    expect([late.status, late.body.code]).toEqual([410, 'selection_gone']);
  });

  test.each([
    {},
    { action: 'enable' },
    { action: 'explode', selection: { ids: ['n1'] } },
    { action: 'enable', selection: 'all' },
    { action: 'enable', selection: { ids: ['n1'] }, args: {} },
    { action: 'set_desired', selection: { ids: ['n1'] } },
    { action: 'set_desired', selection: { ids: ['n1'] }, args: { desired_config: 'c'.repeat(61) } },
    { action: 'set', selection: { ids: ['n1'] }, args: {} },
    { action: 'set', selection: { ids: ['n1'] }, args: { enabled: true } },
    { action: 'enable', selection: { filter: { hosts: 'n]' } } },
  ])('%j is refused and changes nothing', async (body) => {
    const before = await audit();
    expect((await act(body)).status).toBe(400);
    expect(await audit()).toBe(before);
  });
});

test('a reader may choose and not act', async () => {
  const guarded = await createTokenApi();
  try {
    const call = (path: string, body: unknown) => guarded.as(guarded.tokens.reader, 'POST', path, body);
    expect((await call('/api/v1/hostlists', { hosts: 'n1' })).status).toBe(200);
    expect((await call('/api/v1/components/selections', { filter: {} })).status).toBe(200);
    expect((await call('/api/v1/components/actions', { action: 'enable', selection: { ids: ['x'] } })).status).toBe(
      403,
    );
  } finally {
    await guarded.close();
  }
});
