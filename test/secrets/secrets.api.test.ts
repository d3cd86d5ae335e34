import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());

const put = (path: string, body: unknown) => api.call('PUT', `/api/v1/secrets/${path}`, body);

test('a value is set, kept encrypted, and never read back', async () => {
  api.logged.length = 0;
  for (const [path, value] of [
    ['vcs.user/vcs_username', 'u'],
    ['vcs.user/vcs_password', 'first'],
    ['vcs.user/vcs_password', 'hidden-7c1'],
    ['a/b', ''],
  ]) {
    const answer = await put(path ?? '', { value });
    expect([answer.status, answer.body]).toEqual([204, '']);
  }
  expect((await api.call('GET', '/api/v1/secrets')).body).toEqual({
    secrets: [
      { name: 'a', keys: ['b'] },
      { name: 'vcs.user', keys: ['vcs_password', 'vcs_username'] },
    ],
  });
  expect(await api.deps.secrets.get('vcs.user')).toEqual({ vcs_username: 'u', vcs_password: 'hidden-7c1' });
  expect(await api.deps.secrets.get('none')).toBeNull();
  const rows = await api.database.db.selectFrom('secrets').selectAll().execute();
  expect(rows.some((row) => row.ciphertext.includes('hidden-7c1'))).toBe(false);
  expect(JSON.stringify(api.logged)).not.toContain('hidden-7c1');
  for (const path of ['/api/v1/secrets/a', '/api/v1/secrets/a/b', '/apis/cfs/api/v1/secrets']) {
    expect([404, 405]).toContain((await api.call('GET', path)).status);
  }
});

test.each([
  'Upper/k',
  'a_b/k',
  '-a/k',
  'a./k',
  `${'x'.repeat(254)}/k`,
  'a/..',
  'a/.',
  'a/k%2Fl',
  'a/k%20',
  `a/${'k'.repeat(254)}`,
])('the place %s is refused', async (path) => {
  // Dots alone change the path before it is sent.
  expect((await put(path, { value: 'x' })).status).toBe(/\.$/.test(path) && path.startsWith('a/') ? 404 : 400);
});

test.each([[{}], [{ value: 7 }], [{ value: null }], [{ value: 'x', more: 1 }], ['x'], [{ value: 'hidden-9d2\u0000' }]])(
  'the body %j is refused without showing it',
  async (body) => {
    const answer = await put('a/b', body);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).not.toContain('hidden-9d2');
  },
);

test('a value that is set lets what waits for it be tried again; a refused one does not', async () => {
  const revision = () =>
    api.database.db.selectFrom('batcher_state').select('secrets_revision').executeTakeFirstOrThrow();
  const before = (await revision()).secrets_revision;
  expect((await put('a/b', {})).status).toBe(400);
  expect((await revision()).secrets_revision).toBe(before);
  expect((await put('a/b', { value: 'x' })).status).toBe(204);
  expect((await revision()).secrets_revision).toBe(before + 1);
});

describe('a secret goes', () => {
  const remove = (path: string) => api.call('DELETE', `/api/v1/secrets/${path}`);
  const usage = (name: string) => api.call('GET', `/api/v1/secrets/${name}/usage`);

  test('whole, or key by key, and then it is not found', async () => {
    await put('gone/one', { value: '1' });
    await put('gone/two', { value: '2' });
    expect((await remove('gone/one')).status).toBe(204);
    expect(await api.deps.secrets.get('gone')).toEqual({ two: '2' });
    expect((await remove('gone/one')).body.code).toBe('secret_not_found');
    expect((await remove('gone')).status).toBe(204);
    expect([(await remove('gone')).status, (await usage('gone')).status]).toEqual([404, 404]);
    const { body } = await api.call('GET', '/api/v1/audit?kind=secret&limit=3');
    expect(JSON.stringify(body)).toContain('"delete"');
  });

  test('only by force while a source has it, and says which one', async () => {
    const made = await api.call('POST', '/v3/sources', {
      name: 'used',
      clone_url: 'https://used.test/a.git',
      credentials: { username: 'u', password: 'hidden-3e8' },
    });
    await api.call('PATCH', '/v3/options', { additional_inventory_source: 'used' });
    const { secret_name: name } = made.body.credentials;
    expect((await usage(name)).body.uses).toEqual([
      { kind: 'option', name: 'additional_inventory_source' },
      { kind: 'source', name: 'used' },
    ]);
    const refused = await remove(name);
    expect([refused.status, refused.body.code]).toEqual([409, 'secret_in_use']);
    expect(refused.body.detail).toContain('source used');
    expect((await remove(`${name}/password`)).status).toBe(409);
    expect((await remove(`${name}/password?force=true`)).status).toBe(204);
    expect((await remove(`${name}?force=true`)).status).toBe(204);
    await api.call('PATCH', '/v3/options', { additional_inventory_source: '' });
  });

  test('only by force while Muster itself looks for it', async () => {
    await put('ansible-vault-password/password', { value: 'word' });
    expect((await usage('ansible-vault-password')).body.uses).toEqual([
      { kind: 'built-in', name: 'password of Ansible vaults' },
    ]);
    expect((await remove('ansible-vault-password')).status).toBe(409);
    expect((await remove('ansible-vault-password?force=true')).status).toBe(204);
    expect((await usage('ansible-vault-password')).status).toBe(200);
  });
});

describe('the common credentials of repositories', () => {
  const common = (key: string, value: string) => put(`vcs-user-credentials/${key}`, { value });
  const notices = async () => (await api.call('GET', '/api/v1/status')).body.notices;
  const commit = 'a'.repeat(40);

  test.each(['https://git.test', '*.git.test', 'git.test/a', 'git.test, a b'])('take no %j as hosts', async (value) => {
    const answer = await common('vcs_hosts', value);
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringContaining("- 'value'")]);
    expect(await api.deps.secrets.get('vcs-user-credentials')).toBeNull();
  });

  test('are used by what is cloned with them, and hosts that are named nowhere are told until somebody decides', async () => {
    const layers = [
      'https://Git.test/a.git',
      'https://b.test:8443/a.git',
      'https://used.test/a.git',
      'file:///srv/a',
    ].map((clone_url) => ({ clone_url, commit, playbook: 'site.yml' }));
    await api.call('POST', '/v3/sources', {
      name: 'named',
      clone_url: 'https://used.test/b.git',
      credentials: { username: 'u', password: 'p' },
    });
    expect((await api.call('PUT', '/v3/configurations/old', { layers })).status).toBe(200);
    expect(await notices()).toEqual([]);
    await common('vcs_password', 'hidden-5d5');
    expect(await notices()).toEqual([]);
    await common('vcs_username', 'user');
    const [notice] = await notices();
    expect(notice).toContain('`./muster secret set vcs-user-credentials vcs_hosts=b.test:8443,git.test`');
    expect((await api.call('GET', '/api/v1/secrets/vcs-user-credentials/usage')).body.uses).toEqual([
      { kind: 'configuration', name: 'old' },
    ]);
    await common('vcs_hosts', '');
    expect(await notices()).toEqual([]);
    await api.call('DELETE', '/v3/configurations/old');
    expect((await api.call('DELETE', '/api/v1/secrets/vcs-user-credentials')).status).toBe(204);
  });
});
