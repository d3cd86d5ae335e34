import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { musterError } from '../../domain/errors.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

const R1 = 'https://git.example.test/one.git';
const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const C = 'c'.repeat(40);
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
  api.asked.length = 0;
  await api.call('POST', '/v3/sources', { name: 'src', clone_url: R1, credentials: { username: 'u', password: 'p' } });
});

const put = (name: string, body: unknown, query = '') => api.call('PUT', `/v3/configurations/${name}${query}`, body);
const layer = (changes: object = {}) => ({ clone_url: R1, playbook: 'site.yml', commit: A, ...changes });

describe('PUT', () => {
  test('stores and replaces', async () => {
    const body = {
      description: 'd',
      layers: [layer({ name: 'first', special_parameters: { ims_require_dkms: true } })],
      additional_inventory: { clone_url: R1, commit: B },
    };
    const first = await put('c1', body);
    expect([first.status, first.body]).toEqual([200, { name: 'c1', last_updated: NOW, ...body }]);
    expect((await api.call('GET', '/v3/configurations/c1')).body).toEqual(first.body);
    const second = await put('c1', { layers: [] });
    expect(second.body).toEqual({ name: 'c1', last_updated: NOW, layers: [] });
    expect((await api.call('GET', '/v3/configurations/c1')).body).toEqual(second.body);
  });

  test.each<[string, object, string, string]>([
    ['no layers', {}, 'Bad Request', 'layers'],
    ['null layers', { layers: null }, 'Bad Request', 'layers'],
    ['an unknown member', { layers: [], tenant: 'x' }, 'Bad Request', 'tenant'],
    ['a name', { layers: [], name: 'c1' }, 'Bad Request', "read-only - 'name'"],
    ['last_updated', { layers: [], last_updated: NOW }, 'Bad Request', "read-only - 'last_updated'"],
    ['no playbook', { layers: [{ clone_url: R1 }] }, 'Bad Request', 'layers.0'],
    ['a playbook with blank', { layers: [layer({ playbook: 'a b' })] }, 'Bad Request', 'layers.0.playbook'],
    ['a short commit', { layers: [layer(), layer({ commit: 'abc' })] }, 'Bad Request', 'layers.1.commit'],
    ['an upper-case commit', { layers: [layer({ commit: 'A'.repeat(40) })] }, 'Bad Request', 'layers.0.commit'],
    ['a branch with ;', { layers: [layer({ commit: undefined, branch: 'a;b' })] }, 'Bad Request', 'layers.0.branch'],
    ['a long name', { layers: [layer({ name: 'x'.repeat(46) })] }, 'Bad Request', 'layers.0.name'],
    ['an empty name', { layers: [layer({ name: '' })] }, 'Bad Request', 'layers.0.name'],
    ['v2 names', { layers: [layer({ cloneUrl: R1 })] }, 'Bad Request', 'cloneUrl'],
    [
      'a playbook of the inventory',
      { layers: [], additional_inventory: layer() },
      'Bad Request',
      'additional_inventory',
    ],
    ['both repositories', { layers: [layer({ source: 'src' })] }, 'Error handling source', 'layers.0'],
    ['no repository', { layers: [{ playbook: 'p' }] }, 'Error handling source', 'layers.0'],
    ['an empty repository', { layers: [{ playbook: 'p', clone_url: '' }] }, 'Error handling source', 'layers.0'],
    ['branch and commit', { layers: [layer({ branch: 'main' })] }, 'Error handling branches', 'layers.0'],
    [
      'branch and commit of the inventory',
      { layers: [], additional_inventory: { clone_url: R1, branch: 'm', commit: A } },
      'Error handling branches',
      'additional_inventory',
    ],
    [
      'an unknown source',
      { layers: [layer({ clone_url: undefined, source: 'none' })] },
      'Source does not exist',
      'The source none does not exist.',
    ],
    [
      'an unknown source of the inventory',
      { layers: [], additional_inventory: { source: 'none' } },
      'Source does not exist',
      'none',
    ],
    ['equal layers', { layers: [layer(), layer({ commit: B })] }, 'Error with conflicting layers', R1],
    [
      'a layer of a source and one of its URL',
      { layers: [layer({ clone_url: undefined, source: 'src' }), layer()] },
      'Error with conflicting layers',
      `Layers 0 and 1 have the same repository ${R1}`,
    ],
    [
      'an unknown branch',
      { layers: [layer({ commit: undefined, branch: 'none' })] },
      'Error converting branch name to commit',
      "no branch 'none'",
    ],
    [
      'repository before branch, layer by layer',
      { layers: [layer({ branch: 'x' }), { playbook: 'p' }] },
      'Error handling branches',
      'layers.0',
    ],
    [
      'the branch before conflicts',
      { layers: [layer(), layer({ commit: undefined, branch: 'none' })] },
      'Error converting branch name to commit',
      'layers.1.branch',
    ],
  ])('with %s is 400 and stores nothing', async (_name, body, title, detail) => {
    const answer = await put('c1', body);
    expect([answer.status, answer.body.title]).toEqual([400, title]);
    expect(answer.body.detail).toContain(detail);
    expect((await api.call('GET', '/v3/configurations/c1')).status).toBe(404);
  });

  test('branches become commits and stay, unless dropped', async () => {
    api.refs.set(`${R1} main`, B).set(`${R1} inv`, C);
    const body = {
      layers: [layer(), { source: 'src', playbook: 'other.yml', branch: 'main' }],
      additional_inventory: { clone_url: R1, branch: 'inv' },
    };
    const kept = await put('c1', body);
    expect(kept.body.layers[1]).toEqual({ source: 'src', playbook: 'other.yml', branch: 'main', commit: B });
    expect(kept.body.additional_inventory).toEqual({ clone_url: R1, branch: 'inv', commit: C });
    expect(api.asked.map((one) => [one.url, one.sourceName, one.ref])).toEqual([
      [R1, 'src', 'main'],
      [R1, null, 'inv'],
    ]);
    const dropped = await put('c2', body, '?drop_branches=TRUE');
    expect(dropped.body.layers[1]).toEqual({ source: 'src', playbook: 'other.yml', commit: B });
    expect(dropped.body.additional_inventory).toEqual({ clone_url: R1, commit: C });
    expect((await put('c3', body, '?drop_branches=')).status).toBe(400);
  });

  test('neither branch nor commit, empty texts, one playbook of two repositories, and odd URLs are allowed', async () => {
    const layers = [
      { clone_url: `${R1}/other`, playbook: 'p' },
      { source: 'src', playbook: 'p', commit: A },
      { clone_url: 'ext::sh', playbook: 'q', commit: A },
    ];
    const answer = await put('c1', { layers: [{ ...layers[0], source: '', branch: '' }, layers[1], layers[2]] });
    expect([answer.status, answer.body.layers]).toEqual([200, layers]);
  });

  test.each([
    ['x'.repeat(61), 400],
    ['x'.repeat(60), 200],
    [encodeURIComponent('a/b c'), 200],
  ])('the id %s is %i', async (id, status) => {
    expect((await put(id, { layers: [] })).status).toBe(status);
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const answer = await api.call(method, `/v3/configurations/${id}`);
      expect(answer.status).toBe(status === 200 && method === 'DELETE' ? 204 : status);
    }
  });
});

describe('PATCH', () => {
  test('sets every branch to its head, with any body or none', async () => {
    api.refs.set(`${R1} main`, A);
    await put('c1', {
      description: 'd',
      layers: [layer({ commit: undefined, branch: 'main' }), layer({ playbook: 'q', commit: B })],
    });
    api.refs.set(`${R1} main`, C);
    api.now.value = new Date('2026-11-21T11:00:00Z');
    const answer = await api.call('PATCH', '/v3/configurations/c1', 'not json');
    api.now.value = new Date('2026-11-21T10:00:00Z');
    expect(answer.body).toEqual({
      name: 'c1',
      description: 'd',
      last_updated: '2026-11-21T11:00:00Z',
      layers: [layer({ branch: 'main', commit: C }), layer({ playbook: 'q', commit: B })],
    });
  });

  test('that fails changes nothing', async () => {
    api.refs.set(`${R1} main`, A);
    const before = (await put('c1', { layers: [layer({ commit: undefined, branch: 'main' })] })).body;
    api.refs.clear();
    const answer = await api.call('PATCH', '/v3/configurations/c1');
    expect([answer.status, answer.body.title]).toEqual([400, 'Error converting branch name to commit']);
    expect((await api.call('GET', '/v3/configurations/c1')).body).toEqual(before);
    expect((await api.call('PATCH', '/v3/configurations/none')).status).toBe(404);
  });

  test('never overwrites what was written while the remote was asked', async () => {
    let writes = 0;
    const other = await createTestApi({
      git: {
        resolveRef: async () => {
          if (writes++ === 1)
            await other.call('PUT', '/v3/configurations/c1', {
              description: 'newer',
              layers: [layer({ branch: 'main', commit: undefined })],
            });
          return writes > 2 ? C : A;
        },
      },
    });
    await other.call('PUT', '/v3/configurations/c1', { layers: [layer({ branch: 'main', commit: undefined })] });
    const answer = await other.call('PATCH', '/v3/configurations/c1');
    expect(answer.body).toMatchObject({ description: 'newer', layers: [{ commit: C }] });
    await other.close();
  });

  test.each<[string, (other: TestApi) => Promise<unknown>, object]>([
    [
      'was deleted and made again',
      async (other) => {
        await other.call('DELETE', '/v3/configurations/c1');
        await other.call('PUT', '/v3/configurations/c1', { description: 'another', layers: [] });
      },
      { status: 200, body: { description: 'another', layers: [] } },
    ],
    [
      'was deleted',
      (other) => other.call('DELETE', '/v3/configurations/c1'),
      { status: 404, body: { title: 'Configuration not found' } },
    ],
  ])('of a configuration that %s meanwhile is about the one that is there', async (_title, change, expected) => {
    let asked = 0;
    const other = await createTestApi({
      git: {
        resolveRef: async () => {
          if (asked++ === 1) await change(other);
          return A;
        },
      },
    });
    await other.call('PUT', '/v3/configurations/c1', { layers: [layer({ branch: 'main', commit: undefined })] });
    expect(await other.call('PATCH', '/v3/configurations/c1')).toMatchObject(expected);
    await other.close();
  });

  test('by many at the same moment succeeds for all', async () => {
    api.refs.set(`${R1} main`, A);
    await put('c1', { layers: [layer({ branch: 'main', commit: undefined })] });
    const answers = await Promise.all(Array.from({ length: 16 }, () => api.call('PATCH', '/v3/configurations/c1')));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  });

  test('that others are always ahead of is 503, to be tried again', async () => {
    const body = { layers: [layer({ branch: 'main', commit: undefined })] };
    let writes = false;
    const other = await createTestApi({
      git: {
        resolveRef: async ({ ref }) => {
          if (writes && ref === 'main') {
            const layers = [layer({ branch: 'main', commit: undefined })];
            writes = false;
            await other.call('PUT', '/v3/configurations/c1', { layers });
            writes = true;
          }
          return A;
        },
      },
    });
    await other.call('PUT', '/v3/configurations/c1', body);
    writes = true;
    const answer = await other.call('PATCH', '/v3/configurations/c1');
    expect([answer.status, answer.body.code]).toEqual([503, 'changed_meanwhile']);
    expect(answer.headers['retry-after']).toBeDefined();
    await other.close();
  });

  test.each([
    ['text/plain', 'text'],
    ['application/json', '{"layers": 7, "name": "x"}'],
    ['application/json', '[['],
    ['application/x-www-form-urlencoded', 'a=b'],
    ['nonsense', '\u0000'],
  ])('ignores a body of type %s', async (type, body) => {
    const before = (await put('c1', { layers: [layer()] })).body;
    for (const version of ['v2', 'v3']) {
      const answer = await api.call('PATCH', `/${version}/configurations/c1`, body, { 'content-type': type });
      expect(answer.status).toBe(200);
    }
    expect((await api.call('GET', '/v3/configurations/c1')).body).toEqual(before);
  });

  test('a secret store that is away is 503, not a mistake of the request', async () => {
    const other = await createTestApi({
      repositoryAccess: () => Promise.reject(musterError('secret_store_unavailable', 'away')),
    });
    const body = { layers: [layer({ branch: 'main', commit: undefined })] };
    const answer = await other.call('PUT', '/v3/configurations/c1', body);
    expect([answer.status, answer.body.code]).toEqual([503, 'secret_store_unavailable']);
    await other.close();
  });

  test('any refusal of git is a 400 in the words of CFS; secrets that cannot be read too', async () => {
    for (const code of ['repository_url_refused', 'repository_auth_failed', 'clone_failed'] as const) {
      const other = await createTestApi({
        git: { resolveRef: () => Promise.reject(musterError(code, 'git said no')) },
      });
      const answer = await other.call('PUT', '/v3/configurations/c1', {
        layers: [layer({ branch: 'm', commit: undefined })],
      });
      expect([answer.status, answer.body.title]).toEqual([400, 'Error converting branch name to commit']);
      expect(answer.body.detail).toContain('git said no');
      await other.close();
    }
  });
});

test('an import refuses a layer of a source beside one of its URL, as a PUT does', async () => {
  const imported = async (layers: object[]) => {
    const records = [{ name: 'c1', layers }];
    const { body } = await api.call('POST', '/api/v1/import/configurations', { records });
    return body.results[0];
  };
  const ofSource = { source: 'src', playbook: 'site.yml', commit: A };
  expect(await imported([ofSource, layer()])).toMatchObject({
    outcome: 'failed',
    detail: expect.stringContaining(R1),
  });
  expect(await imported([ofSource, layer({ playbook: 'other.yml' })])).toMatchObject({ outcome: 'created' });
});

describe('a layer without playbook, which version 2 takes', () => {
  const v2 = (name: string, layers: object[]) => api.call('PUT', `/v2/configurations/${name}`, { layers });
  test('stays without one and conflicts with the default one', async () => {
    expect((await v2('c1', [{ cloneUrl: R1, commit: A }])).status).toBe(200);
    expect((await api.call('GET', '/v3/configurations/c1')).body.layers).toEqual([{ clone_url: R1, commit: A }]);
    const both = [{ cloneUrl: R1 }, { cloneUrl: R1, playbook: 'site.yml' }];
    const answer = await v2('c2', both);
    expect([answer.status, answer.body.title]).toEqual([400, 'Error with conflicting layers']);
    await api.call('PATCH', '/v2/options', { defaultPlaybook: 'other.yml' });
    expect((await v2('c2', both)).status).toBe(200);
  });
});

describe('DELETE and in_use', () => {
  beforeEach(async () => {
    for (const name of ['used', 'free', 'Zed']) await put(name, { layers: [] });
    await api.call('PUT', '/v3/components/x', { desired_config: 'used' });
  });

  test('a desired one stays', async () => {
    const answer = await api.call('DELETE', '/v3/configurations/used');
    expect([answer.status, answer.body.title, answer.body.detail]).toEqual([
      400,
      'Configuration is in use.',
      'Configuration used is referenced by the desired state of some components',
    ]);
    const free = await api.call('DELETE', '/v3/configurations/free');
    expect([free.status, free.body]).toEqual([204, '']);
    const gone = await api.call('DELETE', '/v3/configurations/free');
    expect([gone.status, gone.body.title, gone.body.detail]).toEqual([
      404,
      'Configuration not found',
      'Configuration free could not be found',
    ]);
  });

  test.each<[string, string[]]>([
    ['', ['Zed', 'free', 'used']],
    ['?in_use=true', ['used']],
    ['?in_use=False', ['Zed', 'free']],
    ['?after_id=a', ['free', 'used']],
  ])('the list %s', async (query, names) => {
    const { body } = await api.call('GET', `/v3/configurations${query}`);
    expect([body.configurations.map((one: { name: string }) => one.name), body.next]).toEqual([names, null]);
  });

  test('the list pages', async () => {
    const { body } = await api.call('GET', '/v3/configurations?limit=1&in_use=false');
    expect(body.next).toEqual({ in_use: false, limit: 1, after_id: 'Zed' });
    const exact = await api.call('GET', '/v3/configurations?limit=3');
    expect(exact.body.next).toBeNull();
    expect((await api.call('GET', '/v3/configurations?limit=2')).body.next).toEqual({
      in_use: null,
      limit: 2,
      after_id: 'free',
    });
    expect((await api.call('GET', '/v3/configurations?in_use=')).status).toBe(400);
  });
});
