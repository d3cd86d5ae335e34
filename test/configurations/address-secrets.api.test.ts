import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi({ git: { resolveRef: async () => 'b'.repeat(40) } });
});
afterAll(() => api.close());

const URL = 'https://user:CANARY@git.test/x.git';
const commit = 'a'.repeat(40);
const v3 = { clone_url: URL, commit, playbook: 'site.yml' };
const v2 = { cloneUrl: URL, commit, playbook: 'site.yml' };
const credentials = { username: 'u', password: 'p' };

describe('an address with a password is refused where it is written, by name and without repeating it', () => {
  test.each<[string, string, string, object]>([
    ['layers.1.clone_url', 'PUT', '/v3/configurations/c', { layers: [{ ...v3, clone_url: 'https://git.test/y' }, v3] }],
    ['layers.0.cloneUrl', 'PUT', '/v2/configurations/c', { layers: [v2] }],
    [
      'additional_inventory.clone_url',
      'PUT',
      '/v3/configurations/c',
      { layers: [], additional_inventory: { clone_url: URL, commit } },
    ],
    [
      'additional_inventory.cloneUrl',
      'PUT',
      '/v2/configurations/c',
      { layers: [], additional_inventory: { cloneUrl: URL, commit } },
    ],
    ['additional_inventory_url', 'PATCH', '/v3/options', { additional_inventory_url: URL }],
    ['additionalInventoryUrl', 'PATCH', '/v2/options', { additionalInventoryUrl: URL }],
    ['clone_url', 'POST', '/v3/sources', { clone_url: URL, credentials }],
    [
      'clone_url',
      'POST',
      '/v3/sources/s',
      { clone_url: URL, credentials: { authentication_method: 'password', secret_name: 'x' } },
    ],
  ])('%s by %s %s', async (field, method, path, body) => {
    const answer = await api.call(method, path, body);
    expect([answer.status, answer.body.code]).toEqual([400, 'password_in_address']);
    expect(answer.body.detail).toContain(`'${field}'`);
    expect(answer.body.detail).toContain('source');
    expect(JSON.stringify(answer.body)).not.toContain('CANARY');
  });

  test('a change of a source, and imports', async () => {
    await api.call('POST', '/v3/sources', { name: 'good', clone_url: 'https://git.test/x.git', credentials });
    const changed = await api.call('PATCH', '/v3/sources/good', { clone_url: URL });
    expect([changed.status, changed.body.code]).toEqual([400, 'password_in_address']);
    const restored = { authentication_method: 'password', secret_name: 'x' };
    for (const [kind, record] of [
      ['sources', { name: 's', clone_url: URL, credentials: restored, last_updated: '2026-01-01T00:00:00Z' }],
      ['configurations', { name: 'c', layers: [v3] }],
      ['options', { name: 'additional_inventory_url', value: URL }],
    ] as const) {
      const { body } = await api.call('POST', `/api/v1/import/${kind}`, { records: [record] });
      expect([body.results?.[0].outcome, JSON.stringify(body)]).toEqual([
        'failed',
        expect.stringMatching(/^(?!.*CANARY).*password or token/s),
      ]);
    }
  });
});

test.each([
  ['PUT', '/v3/configurations/c', { layers: [{ ...v3, clone_url: 'https://user:CANARY@git.test/a b' }] }],
  ['PUT', '/v3/configurations/c', { layers: [{ ...v3, clone_url: 'https://user:CANA/RY@git.test/x y' }] }],
  ['PATCH', '/v3/options', { additional_inventory_url: 'https://user:CANARY@git.test/a;b' }],
  ['PATCH', '/v2/options', { additionalInventoryUrl: `https://user:CANARY@git.test/${'x'.repeat(300)}` }],
  ['POST', '/v3/sources', { clone_url: ['https://user:CANARY@git.test/a'], credentials }],
  [
    'POST',
    '/v3/sessions',
    { name: 's', configuration_name: 'c', ansible_passthrough: `-e pw=CANARY ${'x'.repeat(70_000)}` },
  ],
  [
    'POST',
    '/v2/sessions',
    { name: 's', configurationName: 'c', ansiblePassthrough: `-e pw=CANARY ${'x'.repeat(70_000)}` },
  ],
  ['POST', '/api/v1/webhooks', { name: 'x', url: 'hooks.test/CANARY', events: ['session.ended'] }],
  ['POST', '/api/v1/webhooks', { name: 'x', url: 'https://h.test/', events: ['session.ended'], secret: 'CANARY' }],
  ['PATCH', '/api/v1/webhooks/x', { url: 'ftp://hooks.test/CANARY' }],
  ['PUT', '/api/v1/secrets/a/b', { value: ['CANARY'] }],
])('%s %s with another mistake repeats no secret: %j', async (method, path, body) => {
  const answer = await api.call(method, path, body);
  expect(answer.status).toBe(400);
  expect(JSON.stringify(answer.body)).not.toMatch(/CANA/);
});

test('a record of before works on, and shows the password nowhere', async () => {
  const { db } = api.database;
  const layers = [{ clone_url: URL, commit, branch: 'main', playbook: 'site.yml' }];
  await api.call('PUT', '/v3/configurations/old', { layers: [{ ...v3, clone_url: 'https://git.test/x.git' }] });
  await sql`update configurations set record = record || ${JSON.stringify({ layers, additional_inventory: { clone_url: URL, commit } })}::jsonb
    where name = 'old'`.execute(db);
  await sql`update options set record = record || ${JSON.stringify({ additional_inventory_url: URL })}::jsonb`.execute(
    db,
  );
  const state = [{ clone_url: URL, playbook: 'site.yml', commit, status: 'applied', session_name: 'before' }];
  const component = { id: 'x1', desired_config: 'old', state, enabled: false };
  expect((await api.call('PUT', '/v3/components/x1', component)).body).toMatchObject({ id: 'x1' });
  const refreshed = await api.call('PATCH', '/v3/configurations/old');
  expect(refreshed.body.layers[0]).toMatchObject({
    clone_url: 'https://user:***@git.test/x.git',
    commit: 'b'.repeat(40),
  });
  expect((await api.call('POST', '/v3/sessions', { name: 's1', configuration_name: 'old' })).status).toBe(201);
  for (const path of [
    '/v2/configurations',
    '/v2/configurations/old',
    '/v3/configurations',
    '/v3/configurations/old',
    '/v2/options',
    '/v3/options',
    '/v2/components?stateDetails=true&configDetails=true',
    '/v3/components?state_details=true&config_details=true',
    '/v3/components/x1?state_details=true&config_details=true',
    '/api/v1/components/x1/timeline',
    '/api/v1/sessions/s1',
    '/api/v1/sessions',
    '/api/v1/sessions/s1/events',
    '/api/v1/audit',
  ]) {
    const answer = await api.call('GET', path);
    expect([path, answer.status]).toEqual([path, 200]);
    expect(JSON.stringify(answer.body)).not.toContain('CANARY');
  }
  expect((await api.call('GET', '/api/v1/sessions/s1')).body.snapshot.layers[0].url).toBe(
    'https://user:***@git.test/x.git',
  );
  // What was read is not written back in place of what is stored.
  const { body } = await api.call('GET', '/v3/configurations/old');
  const again = await api.call('PUT', '/v3/configurations/old', {
    layers: body.layers.map(({ branch: _, ...layer }: object & { branch?: string }) => layer),
  });
  expect([again.status, again.body.code]).toEqual([400, 'password_in_address']);
  const stored = await db.selectFrom('sessions').select('snapshot').executeTakeFirstOrThrow();
  expect(JSON.stringify(stored.snapshot)).toContain('CANARY');
});
