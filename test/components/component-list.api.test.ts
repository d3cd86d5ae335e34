/** Muster's own list of components, and one of them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { createTokenApi } from '../support/stack/token-api.ts';
import { makeSession } from '../support/temporal/engine-sessions.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());

const URL = 'https://git.example.test/one.git';
const commit = 'a'.repeat(40);
const layer = (status: 'applied' | 'failed') => ({
  ...{ clone_url: URL, playbook: 'site.yml', commit, status, session_name: 'night' },
});
const list = (query = '') => api.call('GET', `/api/v1/components${query === '' ? '' : `?${query}`}`);
const ids = async (query: string) => (await list(query)).body.components.map(({ id }: { id: string }) => id);

beforeEach(async () => {
  for (const { id } of (await api.call('GET', '/v3/components?limit=1000')).body.components) {
    expect((await api.call('DELETE', `/v3/components/${id}`)).status).toBe(204);
  }
  await api.call('PUT', '/v3/configurations/A', { layers: [{ clone_url: URL, playbook: 'site.yml', commit }] });
  const components = [
    { id: 'n1', desired_config: 'A', enabled: true, state: [layer('applied')], tags: { role: 'web' } },
    { id: 'n2', desired_config: 'A', enabled: true, error_count: 3, state: [layer('failed')], tags: { role: 'db' } },
    { id: 'n3', desired_config: 'A', enabled: true },
    { id: 'n4', desired_config: 'gone', enabled: false },
    { id: 'Node-5', enabled: false },
  ];
  expect((await api.call('PUT', '/v3/components', components)).status).toBe(200);
});

describe('the list', () => {
  test('has the reason of each status', async () => {
    const { status, body } = await list('count=true');
    expect([status, body.total, body.more, body.next]).toEqual([200, 5, false, null]);
    const rows = body.components.map(({ id, status: word, why }: Record<string, string>) => [id, word, why]);
    expect(rows).toEqual([
      ['Node-5', 'unconfigured', 'no configuration is desired; disabled: nothing starts by itself'],
      ['n1', 'configured', 'its layer is reached'],
      ['n2', 'failed', 'layer 1/1 site.yml failed in session night (errors 3 of 3)'],
      ['n3', 'pending', 'layer 1/1 site.yml is not reached yet (errors 0 of 3)'],
      ['n4', 'unconfigured', 'there is no configuration gone; disabled: nothing starts by itself'],
    ]);
    expect(body.components[2]).toMatchObject({
      ...{ enabled: true, desired_config: 'A', error_count: 3, tags: { role: 'db' }, session: null },
      updated_at: expect.stringMatching(/^20.*Z$/),
    });
  });

  test.each<[string, string[]]>([
    ['status=failed', ['n2']],
    ['enabled=false', ['Node-5', 'n4']],
    ['config_name=A', ['n1', 'n2', 'n3']],
    ['tags=role%3Dweb', ['n1']],
    ['ids=n1,n3', ['n1', 'n3']],
    ['hosts=n[1-3],!n2', ['n1', 'n3']],
    ['hosts=@role%3Ddb,n4', ['n2', 'n4']],
    ['hosts=n[1-3]&ids=n3,n4', ['n3']],
    ['text=ODE', ['Node-5']],
    ['text=n&status=pending', ['n3']],
    ['text=%25', []],
    ['changed_since=2200-01-01T00:00:00Z', []],
    ['text=&hosts=&status=&config_name=&tags=', ['Node-5', 'n1', 'n2', 'n3', 'n4']],
  ])('%s chooses %j, and counts them', async (query, expected) => {
    const { body } = await list(`${query}&count=true`);
    expect(body.components.map(({ id }: { id: string }) => id)).toEqual(expected);
    expect(body.total).toBe(expected.length);
  });

  test('comes in pages, with the filters fed back', async () => {
    const { body } = await list('limit=2&config_name=A');
    expect([body.components.length, body.total, body.next]).toEqual([
      2,
      undefined,
      { limit: 2, config_name: 'A', after_id: 'n2' },
    ]);
    expect(await ids(`${new URLSearchParams(body.next)}`)).toEqual(['n3']);
  });

  test('names what is of no component, on the first page', async () => {
    expect((await list('hosts=n1,x[1-30]')).body.unknown).toEqual(Array.from({ length: 20 }, (_, at) => `x${at + 1}`));
    expect((await list('hosts=n1,x1&after_id=n1')).body.unknown).toBeUndefined();
    expect((await list('')).body.unknown).toBeUndefined();
  });

  test('is a file of CSV too, whole, in which no cell is a formula', async () => {
    expect((await api.call('PUT', '/v3/components/%3Dsum', { tags: { a: 'x,"y"' } })).status).toBe(200);
    const { statusCode, headers, body } = await api.app.inject('/api/v1/components?format=csv&text=s&limit=1');
    expect([statusCode, headers['content-type'], headers['content-disposition']]).toEqual([
      200,
      'text/csv; charset=utf-8',
      'attachment; filename="components.csv"',
    ]);
    expect(headers['x-content-type-options']).toBe('nosniff');
    const [head, line, end] = body.split('\r\n');
    expect([head, end]).toEqual(['id,status,why,enabled,desired_config,error_count,session,updated_at,tags', '']);
    expect(line).toMatch(/^'=sum,unconfigured,no configuration is desired; .*,false,,0,,20.*Z,"a=x,""y"""$/);
  });

  test.each([
    ['format=csv&hosts=n[3-1]', 'bad_hostlist', 2],
    ['hosts=n[3-1]', 'bad_hostlist', 2],
    ['hosts=n[0-999999]', 'hostlist_too_large', 0],
    ['tags=role', 'bad_tags', undefined],
    ['status=walking', 'bad_request', undefined],
    ['limit=1001', 'bad_request', undefined],
    ['sort=id', 'bad_request', undefined],
  ])('%s is refused', async (query, code, position) => {
    const { status, body } = await list(query);
    expect([status, body.code, body.position]).toEqual([400, code, position]);
  });
});

describe('one component', () => {
  test('has desired layers beside reached ones, and who changed it', async () => {
    const { status, body } = await api.call('GET', '/api/v1/components/n2');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ id: 'n2', status: 'failed', retry_policy: 3, session: null, changed_by: null },
      desired: [{ clone_url: URL, playbook: 'site.yml', commit, status: 'failed' }],
      reached: [layer('failed')],
    });
  });

  test('names the session that has it', async () => {
    const session = await makeSession(api.deps.db);
    await api.deps.db
      .insertInto('component_leases')
      .values({ component_id: 'n3', session_id: session.id, taken_at: new Date() })
      .execute();
    const named = { id: session.id, name: session.name };
    expect((await api.call('GET', '/api/v1/components/n3')).body.session).toEqual(named);
    expect((await list('ids=n3')).body.components[0].session).toEqual(named);
    await api.deps.db.deleteFrom('component_leases').execute();
  });

  test('that is not there is told', async () => {
    const { status, body } = await api.call('GET', '/api/v1/components/a%2Fb');
    expect([status, body.code]).toEqual([404, 'component_not_found']);
  });
});

test('a selection chooses by a part of the id as the list does', async () => {
  const { body } = await api.call('POST', '/api/v1/components/selections', { filter: { text: 'node' } });
  expect([body.count, body.sample]).toEqual([1, ['Node-5']]);
});

test('a reader sees both', async () => {
  const tokens = await createTokenApi();
  try {
    const { reader } = tokens.tokens;
    expect((await tokens.as(reader, 'GET', '/api/v1/components')).status).toBe(200);
    expect((await tokens.as(reader, 'GET', '/api/v1/components/none')).status).toBe(404);
  } finally {
    await tokens.close();
  }
});
