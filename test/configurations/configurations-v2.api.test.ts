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
  for (const table of ['components', 'configurations', 'sources', 'options'] as const) {
    await api.database.db.deleteFrom(table).execute();
  }
  api.refs.clear();
  api.logged.length = 0;
  await api.call('POST', '/v3/sources', { name: 'src', clone_url: R1, credentials: { username: 'u', password: 'p' } });
});

const put = (name: string, body: unknown, headers?: Record<string, string>) =>
  api.call('PUT', `/v2/configurations/${name}`, body, headers);
const stored = async (name: string) => (await api.call('GET', `/v3/configurations/${name}`)).body;
const layer = (changes: object = {}) => ({ cloneUrl: R1, playbook: 'site.yml', commit: A, ...changes });

describe('PUT', () => {
  test('stores what v3 reads in its names', async () => {
    const body = {
      description: 'd',
      layers: [
        layer({ name: 'first', specialParameters: { imsRequireDkms: true } }),
        { cloneUrl: `${R1}2`, commit: A },
      ],
      additional_inventory: { name: 'inv', cloneUrl: R1, commit: B },
    };
    const answer = await put('c1', body);
    const expected = { name: 'c1', lastUpdated: NOW, ...body };
    expect([answer.status, answer.body]).toEqual([200, expected]);
    expect((await api.call('GET', '/apis/cfs/v2/configurations/c1')).body).toEqual(expected);
    expect(await stored('c1')).toEqual({
      name: 'c1',
      last_updated: NOW,
      description: 'd',
      layers: [
        {
          name: 'first',
          clone_url: R1,
          playbook: 'site.yml',
          commit: A,
          special_parameters: { ims_require_dkms: true },
        },
        { clone_url: `${R1}2`, commit: A },
      ],
      additional_inventory: { name: 'inv', clone_url: R1, commit: B },
    });
  });

  test('branches become commits and stay; drop_branches is no parameter of v2', async () => {
    api.refs.set(`${R1} main`, B);
    const answer = await put('c1?drop_branches=true', { layers: [layer({ commit: undefined, branch: 'main' })] });
    expect(answer.body.layers).toEqual([{ cloneUrl: R1, playbook: 'site.yml', commit: B, branch: 'main' }]);
    expect((await put('c1?drop_branches=1', { layers: [] })).status).toBe(200);
    const gone = await put('c2', { layers: [], additional_inventory: { cloneUrl: R1, branch: 'gone' } });
    expect([gone.status, gone.body.title]).toEqual([400, 'Error converting branch name to commit']);
    expect(gone.body.detail).toContain("'additional_inventory.branch'");
    expect((await api.call('GET', '/v2/configurations/c2')).status).toBe(404);
  });

  test.each<[string, object, string, string]>([
    ['no layers', {}, 'Bad Request', "'layers'"],
    ['v3 names', { layers: [{ ...layer(), clone_url: R1 }] }, 'Bad Request', 'clone_url'],
    ['a source', { layers: [layer({ source: 'src' })] }, 'Bad Request', "'source'"],
    ['a source instead of a URL', { layers: [{ source: 'src', playbook: 'p' }] }, 'Bad Request', "'layers.0'"],
    ['no URL', { layers: [{ playbook: 'p' }] }, 'Bad Request', "'cloneUrl' is a required property - 'layers.0'"],
    ['an empty URL', { layers: [layer({ cloneUrl: '' })] }, 'Bad Request', "'layers.0.cloneUrl'"],
    ['a URL with blank', { layers: [layer({ cloneUrl: 'a b' })] }, 'Bad Request', "'layers.0.cloneUrl'"],
    ['a short commit', { layers: [layer(), layer({ commit: 'abc' })] }, 'Bad Request', "'layers.1.commit'"],
    ['a playbook with ;', { layers: [layer({ playbook: 'a;b' })] }, 'Bad Request', "'layers.0.playbook'"],
    ['a name', { layers: [], name: 'c1' }, 'Bad Request', "read-only - 'name'"],
    ['lastUpdated', { layers: [], lastUpdated: NOW }, 'Bad Request', "read-only - 'lastUpdated'"],
    ['last_updated', { layers: [], last_updated: NOW }, 'Bad Request', "'last_updated'"],
    ['a tenant', { layers: [], tenant_name: 'known' }, 'Bad Request', "'tenant_name'"],
    [
      'additionalInventory',
      { layers: [], additionalInventory: { cloneUrl: R1 } },
      'Bad Request',
      'additionalInventory',
    ],
    [
      'clone_url in the inventory',
      { layers: [], additional_inventory: { clone_url: R1 } },
      'Bad Request',
      "'additional_inventory'",
    ],
    [
      'a v3 special parameter',
      { layers: [layer({ specialParameters: { ims_require_dkms: true } })] },
      'Bad Request',
      "'layers.0.specialParameters'",
    ],
    ['branch and commit', { layers: [layer({ branch: 'main' })] }, 'Error handling error branches', "'layers.0'"],
    [
      'an equal layer by the default playbook',
      { layers: [layer(), layer({ playbook: undefined })] },
      'Error with conflicting layers',
      R1,
    ],
    ['two equal layers', { layers: [layer(), layer({ commit: B })] }, 'Error with conflicting layers', R1],
  ])('%s is refused', async (_, body, title, named) => {
    const answer = await put('c1', body);
    expect([answer.status, answer.body.title]).toEqual([400, title]);
    expect(answer.body.detail).toContain(named);
    expect((await api.call('GET', '/v2/configurations/c1')).status).toBe(404);
  });

  test('names of layers and of configurations have no limit but what can be stored', async () => {
    const long = 'n'.repeat(600);
    expect((await put(long, { layers: [layer({ name: 'l'.repeat(46) })] })).status).toBe(200);
    expect((await api.call('GET', `/v2/configurations/${long}`)).body.layers[0].name).toBe('l'.repeat(46));
    expect((await api.call('PATCH', `/v2/configurations/${long}`)).status).toBe(200);
    expect((await api.call('GET', `/v3/configurations/${long}`)).status).toBe(400);
    expect((await put(`${long}n`, { layers: [] })).status).toBe(400);
    expect((await api.call('GET', `/v2/configurations/${long}n`)).status).toBe(404);
    expect((await api.call('DELETE', `/v2/configurations/${long}`)).status).toBe(204);
    expect((await put('c1', { layers: [layer({ name: '' })] })).status).toBe(200);
  });
});

describe('a configuration of v3', () => {
  beforeEach(async () => {
    api.refs.set(`${R1} main`, A);
    await api.call('PUT', '/v3/configurations/c3', {
      layers: [
        { source: 'src', playbook: 'a.yml', branch: 'main' },
        { clone_url: R1, playbook: 'b.yml', commit: B },
      ],
      additional_inventory: { source: 'src', commit: B },
      tenant_name: 'known',
    });
  });

  test('is shown without source and tenant', async () => {
    expect((await api.call('GET', '/v2/configurations/c3')).body).toEqual({
      name: 'c3',
      lastUpdated: NOW,
      layers: [
        { playbook: 'a.yml', branch: 'main', commit: A },
        { cloneUrl: R1, playbook: 'b.yml', commit: B },
      ],
      additional_inventory: { commit: B },
    });
    expect((await api.call('GET', '/v2/configurations')).body).toHaveLength(1);
  });

  test('keeps them in a v2 PATCH', async () => {
    api.refs.set(`${R1} main`, B);
    const answer = await api.call('PATCH', '/v2/configurations/c3', '<ignored/>', { 'content-type': 'text/xml' });
    expect([answer.status, answer.body.layers[0]]).toEqual([200, { playbook: 'a.yml', branch: 'main', commit: B }]);
    expect(await stored('c3')).toMatchObject({
      tenant_name: 'known',
      layers: [{ source: 'src', commit: B }, {}],
      additional_inventory: { source: 'src' },
    });
  });

  test('keeps its tenant in a v2 PUT, which says in the log what it loses', async () => {
    const answer = await put('c3', { layers: [layer()] });
    expect([answer.status, answer.body]).toEqual([200, { name: 'c3', lastUpdated: NOW, layers: [layer()] }]);
    expect(await stored('c3')).toMatchObject({ tenant_name: 'known' });
    const warnings = api.logged.filter((line) => line.level === 40);
    expect(warnings).toEqual([expect.objectContaining({ configuration: 'c3' })]);
    await put('c3', { layers: [] });
    expect(api.logged.filter((line) => line.level === 40)).toHaveLength(1);
  });

  test.each([
    ['PUT', { layers: [] }],
    ['PATCH', undefined],
    ['DELETE', undefined],
  ] as const)('%s with the header of another tenant is 403, of none that exists 400', async (method, body) => {
    const call = (tenant: string) => api.call(method, '/v2/configurations/c3', body, { 'cray-tenant-name': tenant });
    const foreign = await call('known-other');
    expect([foreign.status, foreign.body.title]).toEqual([403, 'Forbidden operation.']);
    const unknown = await call('nobody');
    expect([unknown.status, unknown.body.title]).toEqual([400, 'Invalid tenant']);
    expect((await call('x'.repeat(128))).status).toBe(400);
    expect(await stored('c3')).toMatchObject({ tenant_name: 'known', layers: [{ source: 'src' }, {}] });
    expect((await call('known')).status).toBe(method === 'DELETE' ? 204 : 200);
  });

  test('reads of v2 show all, whatever the header says', async () => {
    for (const tenant of ['known-other', 'nobody', 'x'.repeat(128)]) {
      const headers = { 'cray-tenant-name': tenant };
      expect((await api.call('GET', '/v2/configurations/c3', undefined, headers)).status).toBe(200);
      expect((await api.call('GET', '/v2/configurations', undefined, headers)).body).toHaveLength(1);
    }
  });
});

test('lists are arrays, by name, and say when they would be too large', async () => {
  for (const name of ['b', 'a', 'c']) await put(name, { layers: [] });
  await api.call('PUT', '/v2/components/x', { desiredConfig: 'b' });
  const names = async (query: string) =>
    (await api.call('GET', `/v2/configurations${query}`)).body.map((one: { name: string }) => one.name);
  expect(await names('')).toEqual(['a', 'b', 'c']);
  expect(await names('?in_use=True')).toEqual(['b']);
  expect(await names('?in_use=false&limit=1&after_id=a&inUse=true')).toEqual(['a', 'c']);
  expect((await api.call('GET', '/v2/configurations?in_use=')).status).toBe(400);
  await api.call('PATCH', '/v3/options', { default_page_size: 2 });
  const answer = await api.call('GET', '/v2/configurations');
  expect([answer.status, answer.body.title]).toEqual([400, 'The response size is too large']);
  expect(await names('?in_use=false')).toEqual(['a', 'c']);
});

test('DELETE: not found, then in use', async () => {
  await api.call('PUT', '/v2/components/x', { desiredConfig: 'c1' });
  expect((await api.call('DELETE', '/v2/configurations/c1')).body.title).toBe('Configuration not found');
  await put('c1', { layers: [] });
  const answer = await api.call('DELETE', '/v2/configurations/c1');
  expect([answer.status, answer.body.title]).toEqual([400, 'Configuration is in use.']);
  await api.call('DELETE', '/v2/components/x');
  expect((await api.call('DELETE', '/v2/configurations/c1')).status).toBe(204);
});

test('there are no sources in v2', async () => {
  for (const path of ['/v2/sources', '/v2/sources/src', '/apis/cfs/v2/sources']) {
    for (const method of ['GET', 'POST', 'PATCH', 'DELETE']) {
      expect((await api.call(method, path, {})).body.title).toBe('Not Found');
    }
  }
});
