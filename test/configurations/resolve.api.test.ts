/** Branches as commits, with nothing stored. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

let api: TokenApi;
beforeAll(async () => {
  api = await createTokenApi();
});
afterAll(() => api.close());
beforeEach(() => {
  api.refs.clear();
  api.asked.length = 0;
});

interface Resolved {
  commit: string | null;
  problem: { code: string; detail: string } | null;
}
const URL = 'https://git.example.test/one.git';
const [A, B] = ['a'.repeat(40), 'b'.repeat(40)];
const resolve = (layers: object[], token = api.tokens.operator) =>
  api.as(token, 'POST', '/api/v1/configurations/resolve', { layers });

test('each layer has its commit or its problem, and none keeps another from its answer', async () => {
  api.refs.set(`${URL} main`, A);
  const answer = await resolve([
    { clone_url: URL, playbook: 'a.yml', branch: 'main' },
    { clone_url: URL, playbook: 'b.yml', branch: 'gone' },
    { clone_url: URL, playbook: 'c.yml', commit: B },
    { clone_url: URL, playbook: 'd.yml' },
    { source: 'none', playbook: 'e.yml', branch: 'main' },
    { playbook: 'f.yml', branch: 'main' },
    { clone_url: URL, playbook: 'g.yml', branch: 'main', commit: B },
  ]);
  expect(answer.status).toBe(200);
  expect(answer.body.layers.map(({ commit, problem }: Resolved) => commit ?? problem?.code ?? null)).toEqual([
    A,
    'branch_not_resolved',
    B,
    null,
    'source_unknown',
    'source_or_url',
    'branch_and_commit',
  ]);
  expect(answer.body.layers[1].problem.detail).toContain('gone');
  expect((await api.as(api.tokens.operator, 'GET', '/v3/configurations')).body.configurations).toEqual([]);
});

test('a branch of many layers is asked for once', async () => {
  api.refs.set(`${URL} main`, A);
  const layers = ['a.yml', 'b.yml', 'c.yml'].map((playbook) => ({ clone_url: URL, playbook, branch: 'main' }));
  expect((await resolve(layers)).body.layers.map(({ commit }: { commit: string }) => commit)).toEqual([A, A, A]);
  expect(api.asked).toHaveLength(1);
});

test('an address with a password is refused in its place, and its answer does not have it', async () => {
  const { body } = await resolve([
    { clone_url: 'https://u:secret@git.example.test/x.git', playbook: 'a.yml', branch: 'main' },
  ]);
  expect(body.layers[0].problem.code).toBe('password_in_address');
  expect(JSON.stringify(body)).not.toContain('secret@');
  expect(api.asked).toHaveLength(0);
});

test('a reader may not ask remotes with the credentials of the site', async () => {
  expect((await resolve([], api.tokens.reader)).status).toBe(403);
});

test('a layer that is none is refused by its place', async () => {
  const answer = await resolve([{ clone_url: URL, playbok: 'a.yml' }]);
  expect([answer.status, answer.body.code]).toEqual([400, 'bad_request']);
  expect(answer.body.detail).toContain('playbok');
});
