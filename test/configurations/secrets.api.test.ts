import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/test-api.ts';

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
