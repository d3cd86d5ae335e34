import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { openHttpRegistry } from '../../drivers/tenants/http-registry.ts';
import { withoutRegistry } from '../../drivers/tenants/no-registry.ts';
import { eventually } from '../support/eventually.ts';
import { startTenantRegistry, type TenantRegistryServer } from '../support/fakes/tenant-registry-server.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

const URL1 = 'https://git.example.test/one.git';
const A = 'a'.repeat(40);

let registry: TenantRegistryServer;
let api: TestApi;
/** What the registry does instead of answering. */
let misbehave: 'hang' | 'fail' | null = null;
beforeAll(async () => {
  registry = await startTenantRegistry({
    tenants: ['blue', 'red'],
    intercept: (_request, response) => {
      if (misbehave === 'fail') response.writeHead(500).end();
      return misbehave !== null;
    },
  });
  const { url } = registry;
  const [patient, impatient] = [openHttpRegistry({ url }), openHttpRegistry({ url, timeoutMs: 200 })];
  // Only one that never answers may be given up so soon: on a busy machine others need their time.
  const tenants = { hasTenant: (name: string) => (misbehave === 'hang' ? impatient : patient).hasTenant(name) };
  api = await createTestApi({ tenants });
});
afterAll(async () => {
  await api.close();
  await registry.stop();
});

const as = (tenant: string | null, method: string, url: string, body?: unknown) =>
  api.call(method, url, body, tenant === null ? {} : { 'Cray-Tenant-Name': tenant });
const layers = [{ clone_url: URL1, playbook: 'site.yml', commit: A }];
const owner = async (name: string) => (await as(null, 'GET', `/v3/configurations/${name}`)).body.tenant_name;

beforeEach(async () => {
  misbehave = null;
  for (const table of ['components', 'configurations'] as const) await api.database.db.deleteFrom(table).execute();
  await as('blue', 'PUT', '/v3/configurations/of-blue', { layers });
  await as('red', 'PUT', '/v3/configurations/of-red', { layers });
  await as(null, 'PUT', '/v3/configurations/of-nobody', { layers });
  registry.asked.length = 0;
});

const EACH_V3: [string, string, object?][] = [
  ['GET', '/v3/configurations'],
  ['GET', '/v3/configurations/of-red'],
  ['GET', '/v3/configurations/none'],
  ['PUT', '/v3/configurations/of-red', { layers: [{ playbook: 'x' }], tenant_name: 'other' }],
  ['PATCH', '/v3/configurations/none'],
  ['DELETE', '/v3/configurations/none'],
];

describe('before anything else', () => {
  test.each(EACH_V3)('an unknown tenant is refused: %s %s', async (...[method, url, body]) => {
    const answer = await as('nobody', method, url, body);
    expect([answer.status, answer.body.title]).toEqual([400, 'Invalid tenant']);
    expect(answer.body.detail).toContain('nobody');
  });

  test.each(EACH_V3)('a registry that fails or hangs is 503: %s %s', async (...[method, url, body]) => {
    for (const mode of ['fail', 'hang'] as const) {
      misbehave = mode;
      const answer = await as('blue', method, url, body);
      expect(answer.body).toMatchObject({
        status: 503,
        code: 'tenant_registry_unavailable',
        title: 'Service Unavailable',
      });
      expect(answer.headers['retry-after']).toBeDefined();
    }
  });

  test.each(EACH_V3)('a name of more than 127 characters is refused unasked: %s %s', async (...[method, url, body]) => {
    const answer = await as('x'.repeat(128), method, url, body);
    expect([answer.status, answer.body.title]).toEqual([400, 'Bad Request']);
    expect(answer.body.detail).toContain('cray-tenant-name');
    expect(registry.asked).toEqual([]);
    expect((await as('x'.repeat(127), method, url, body)).body.title).toBe('Invalid tenant');
  });

  test('parameters and the schema of a body come first', async () => {
    for (const [url, body] of [
      [`/v3/configurations/${'x'.repeat(61)}`, { layers }],
      ['/v3/configurations/c?drop_branches=1', { layers }],
      ['/v3/configurations/c', { layers, tenant: 'blue' }],
      ['/v3/configurations/c', { layers, tenant_name: null }],
      ['/v3/configurations/c', '{'],
    ] as const) {
      expect((await as('nobody', 'PUT', url, body)).body.title).toBe('Bad Request');
    }
    expect(registry.asked).toEqual([]);
  });

  test('without a tenant, or with an empty one, nobody is asked', async () => {
    misbehave = 'hang';
    for (const tenant of [null, '']) {
      expect((await as(tenant, 'GET', '/v3/configurations')).body.configurations).toHaveLength(3);
      expect((await as(tenant, 'GET', '/v3/configurations/of-red')).status).toBe(200);
    }
    expect(registry.asked).toEqual([]);
  });

  test('where no registry is set, every tenant is unknown', async () => {
    const other = await createTestApi({ tenants: withoutRegistry() });
    const answer = await other.call('GET', '/v3/configurations', undefined, { 'cray-tenant-name': 'blue' });
    expect([answer.status, answer.body.title]).toEqual([400, 'Invalid tenant']);
    expect((await other.call('GET', '/v3/configurations')).status).toBe(200);
    await other.close();
  });
});

describe('a tenant', () => {
  test('owns what it makes, and sees and changes it', async () => {
    expect(await owner('of-blue')).toBe('blue');
    expect((await as('blue', 'GET', '/v3/configurations/of-blue')).body.tenant_name).toBe('blue');
    for (const tenant_name of [undefined, '', 'blue']) {
      const answer = await as('blue', 'PUT', '/v3/configurations/of-blue', { layers: [], tenant_name });
      expect([answer.status, answer.body.tenant_name]).toEqual([200, 'blue']);
    }
    expect((await as('blue', 'PATCH', '/v3/configurations/of-blue')).body.tenant_name).toBe('blue');
    expect((await as('blue', 'DELETE', '/v3/configurations/of-blue')).status).toBe(204);
  });

  test.each(['of-red', 'of-nobody'])('has no hand on %s', async (name) => {
    const before = (await as(null, 'GET', `/v3/configurations/${name}`)).body;
    for (const [method, body] of [
      ['GET'],
      ['PUT', { layers: [] }],
      ['PUT', { layers: [{ playbook: 'no-repository' }] }],
      ['PATCH'],
      ['DELETE'],
    ] as [string, object?][]) {
      const answer = await as('blue', method, `/v3/configurations/${name}`, body);
      expect([method, answer.status, answer.body.title]).toEqual([method, 403, 'Forbidden operation.']);
    }
    expect((await as(null, 'GET', `/v3/configurations/${name}`)).body).toEqual(before);
  });

  test('cannot give a configuration to another', async () => {
    for (const name of ['new', 'of-blue']) {
      const answer = await as('blue', 'PUT', `/v3/configurations/${name}`, { layers: [], tenant_name: 'red' });
      expect([answer.status, answer.body.title]).toEqual([403, 'Forbidden operation.']);
      expect(answer.body.detail).toContain('tenant_name');
    }
    expect((await as(null, 'GET', '/v3/configurations/new')).status).toBe(404);
    expect((await as(null, 'GET', '/v3/configurations/of-blue')).body.layers).toEqual(layers);
  });

  test('hears that a configuration is missing before whose it is, and whose before that it is in use', async () => {
    for (const name of ['of-red', 'of-blue']) {
      await api.call('PUT', `/v3/components/of-${name}`, { desired_config: name });
    }
    expect((await as('blue', 'DELETE', '/v3/configurations/none')).status).toBe(404);
    expect((await as('blue', 'PATCH', '/v3/configurations/none')).status).toBe(404);
    expect((await as('blue', 'DELETE', '/v3/configurations/of-red')).body.title).toBe('Forbidden operation.');
    expect((await as('blue', 'DELETE', '/v3/configurations/of-blue')).body.title).toBe('Configuration is in use.');
  });

  test('lists only its own, in full pages', async () => {
    for (let index = 0; index < 5; index++) {
      await as('blue', 'PUT', `/v3/configurations/b${index}`, { layers: [] });
      await as('red', 'PUT', `/v3/configurations/b${index}-red`, { layers: [] });
    }
    await api.call('PUT', '/v3/components/x', { desired_config: 'b1' });
    await api.call('PUT', '/v3/components/y', { desired_config: 'b1-red' });
    const names = async (query: string) => {
      const { body } = await as('blue', 'GET', `/v3/configurations${query}`);
      return [body.configurations.map((one: { name: string }) => one.name), body.next];
    };
    expect(await names('')).toEqual([['b0', 'b1', 'b2', 'b3', 'b4', 'of-blue'], null]);
    expect(await names('?limit=2')).toEqual([['b0', 'b1'], { in_use: null, limit: 2, after_id: 'b1' }]);
    expect(await names('?limit=4&after_id=b1')).toEqual([['b2', 'b3', 'b4', 'of-blue'], null]);
    expect(await names('?in_use=true')).toEqual([['b1'], null]);
    expect(await names('?in_use=false&limit=5')).toEqual([['b0', 'b2', 'b3', 'b4', 'of-blue'], null]);
  });

  test('of two that make one name at once, one is refused and owns nothing', async () => {
    for (let round = 0; round < 15; round++) {
      const tenants = ['blue', 'red'];
      const answers = await Promise.all(
        tenants.map((tenant) => as(tenant, 'PUT', `/v3/configurations/race-${round}`, { layers: [] })),
      );
      expect(answers.map((answer) => answer.status).sort()).toEqual([200, 403]);
      expect(await owner(`race-${round}`)).toBe(tenants[answers.findIndex((answer) => answer.status === 200)]);
    }
  });

  test('does not write over a configuration that changed hands while its branches were asked for', async () => {
    const slow = await createTestApi({
      git: {
        resolveRef: async () => {
          await slow.call('PUT', '/v3/configurations/c', { layers: [], tenant_name: 'known-red' });
          return A;
        },
      },
    });
    const headers = { 'cray-tenant-name': 'known-blue' };
    await slow.call('PUT', '/v3/configurations/c', { layers: [] }, headers);
    const branch = { layers: [{ clone_url: URL1, playbook: 'p', branch: 'main' }] };
    const answer = await slow.call('PUT', '/v3/configurations/c', branch, headers);
    expect([answer.status, answer.body.title]).toEqual([403, 'Forbidden operation.']);
    expect((await slow.call('GET', '/v3/configurations/c')).body).toMatchObject({ tenant_name: 'known-red' });
    await slow.close();
  });
});

describe('the administrator', () => {
  test('gives, takes and overwrites', async () => {
    expect(await owner('of-nobody')).toBeUndefined();
    for (const tenant_name of ['red', 'not in the registry', 'blue']) {
      await as(null, 'PUT', '/v3/configurations/of-blue', { layers: [], tenant_name });
      expect(await owner('of-blue')).toBe(tenant_name);
    }
    await as(null, 'PUT', '/v3/configurations/of-blue', { layers: [] });
    expect(await owner('of-blue')).toBeUndefined();
    expect((await as(null, 'PATCH', '/v3/configurations/of-red')).body.tenant_name).toBe('red');
    expect((await as(null, 'DELETE', '/v3/configurations/of-red')).status).toBe(204);
  });
});

describe('version 2', () => {
  const v2 = [{ cloneUrl: URL1, commit: A }];

  test('shows everything to everybody, without tenant_name', async () => {
    const { body } = await as('nobody', 'GET', '/v2/configurations');
    expect(body.map((one: { name: string }) => one.name)).toEqual(['of-blue', 'of-nobody', 'of-red']);
    expect(JSON.stringify(body)).not.toContain('tenant');
    expect((await as('blue', 'GET', '/v2/configurations/of-red')).status).toBe(200);
    expect(registry.asked).toEqual([]);
  });

  test('keeps the owner when the administrator writes', async () => {
    expect((await as(null, 'PUT', '/v2/configurations/of-blue', { layers: v2 })).body).not.toHaveProperty(
      'tenant_name',
    );
    await as(null, 'PATCH', '/v2/configurations/of-red');
    expect([await owner('of-blue'), await owner('of-red')]).toEqual(['blue', 'red']);
    expect((await as(null, 'PUT', '/v2/configurations/of-blue', { layers: v2, tenant_name: 'red' })).status).toBe(400);
  });

  test('is no way round the ownership', async () => {
    for (const [method, body] of [['PUT', { layers: v2 }], ['PATCH'], ['DELETE']] as [string, object?][]) {
      for (const name of ['of-red', 'of-nobody']) {
        const answer = await as('blue', method, `/v2/configurations/${name}`, body);
        expect([method, answer.status, answer.body.title]).toEqual([method, 403, 'Forbidden operation.']);
      }
      expect((await as('nobody', method, '/v2/configurations/of-red', body)).body.title).toBe('Invalid tenant');
      expect((await as('x'.repeat(128), method, '/v2/configurations/of-red', body)).status).toBe(400);
    }
    expect((await as('blue', 'PUT', '/v2/configurations/new', { layers: v2 })).status).toBe(200);
    expect((await as('blue', 'PUT', '/v2/configurations/of-blue', { layers: v2 })).status).toBe(200);
    expect([await owner('new'), await owner('of-blue')]).toEqual(['blue', 'blue']);
    expect((await as('blue', 'DELETE', '/v2/configurations/of-blue')).status).toBe(204);
  });
});

test.each(['/v3/components', '/v3/sessions', '/v3/sources', '/v3/options', '/v2/components', '/healthz', '/versions'])(
  '%s does not look at tenants',
  async (path) => {
    misbehave = 'hang';
    expect((await as('x'.repeat(200), 'GET', path)).status).toBe(200);
  },
);

test('a registry that hangs keeps nobody waiting who does not ask it', async () => {
  const hung = Promise.withResolvers<boolean>();
  const asked: string[] = [];
  const hasTenant = (name: string) => {
    asked.push(name);
    return hung.promise;
  };
  // One place for lists, two for single records.
  const small = await createTestApi({ tenants: { hasTenant }, maxRequests: 2 });
  const read = (path: string, tenant: string) =>
    small.call('GET', `/v3/configurations${path}`, undefined, { 'Cray-Tenant-Name': tenant });
  const reads = [read('', 'list'), read('/a', 'one'), read('/b', 'two')];
  await eventually('the registry is asked', () => asked.length >= 2);
  for (const path of ['/v3/components', '/v3/configurations', '/v2/configurations', '/v3/options']) {
    expect((await small.call('GET', path)).status).toBe(200);
  }
  hung.resolve(false);
  for (const answer of await Promise.all(reads)) expect(answer.status).toBe(400);
  await small.close();
});
