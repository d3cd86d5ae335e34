import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { always, type FakeApi, problem, startFakeApi } from '../support/fakes/fake-api.ts';
import { cli } from '../support/stack/command-line.ts';

let api: FakeApi;
let dir: string;
beforeEach(async () => {
  api = await startFakeApi();
  dir = await mkdtemp(join(tmpdir(), 'muster-secrets-'));
});
afterEach(async () => {
  await api.close();
  await rm(dir, { recursive: true, force: true });
});

const run = (args: string[], stdin = '') => cli(['secret', ...args], { url: api.url, stdin });
const stored = () => api.seen.filter(({ method }) => method === 'PUT').map(({ url, body }) => [url, body]);
const AT = '/api/v1/secrets/vcs-user-credentials';

describe('secret set', () => {
  beforeEach(() => {
    for (const key of ['vcs_username', 'vcs_password', 'vcs_hosts']) api.on(`PUT ${AT}/${key}`, always(204, ''));
  });

  test('stores several values at once, from files, stdin and, what is no secret, from the command line', async () => {
    const file = join(dir, 'user');
    await writeFile(file, 'ada\n');
    const entries = [`vcs_username=@${file}`, 'vcs_password=-', 'vcs_hosts=git.test,b.test:8443'];
    const { exit, out, err } = await run(['set', 'vcs-user-credentials', ...entries], 'pa=ss\n');
    expect([exit, out]).toEqual([0, '']);
    expect(err).toContain('vcs_username, vcs_password, vcs_hosts stored');
    expect(stored()).toEqual([
      [`${AT}/vcs_username`, { value: 'ada' }],
      [`${AT}/vcs_password`, { value: 'pa=ss' }],
      [`${AT}/vcs_hosts`, { value: 'git.test,b.test:8443' }],
    ]);
  });

  test.each([
    ['a secret on the command line', ['vcs_password=word'], 'list of processes'],
    ['two values from stdin', ['vcs_username=-', 'vcs_password=-'], 'stdin can be the value of one key only'],
    ['one key twice', ['vcs_password=-', 'vcs_password=@a'], 'twice'],
    ['a file that is not there', ['vcs_username=-', 'vcs_password=@/none/at/all'], '/none/at/all cannot be read'],
    ['no key', ['=-'], 'a key is missing'],
  ])('stores nothing with %s', async (_title, entries, words) => {
    const { exit, err } = await run(['set', 'vcs-user-credentials', ...entries], 'hidden-0a1\n');
    expect([exit, err]).toEqual([2, expect.stringContaining(words)]);
    expect(stored()).toEqual([]);
  });
});

test('list, usage and delete', async () => {
  api.on('GET /api/v1/secrets', always(200, { secrets: [{ name: 'a', keys: ['k', 'l'] }] }));
  expect((await run(['list'])).out).toMatch(/^a +k, l$/m);
  api.on('GET /api/v1/secrets/a/usage', always(200, { uses: [{ kind: 'source', name: 'shop' }] }));
  expect((await run(['usage', 'a'])).out).toMatch(/^source +shop$/m);
  api.on('DELETE /api/v1/secrets/a', (_request, response) =>
    problem(response, 'secret_in_use', 'Secret a is used: source shop'),
  );
  const refused = await run(['delete', 'a']);
  expect([refused.exit, refused.err]).toEqual([5, expect.stringContaining('--force')]);
  api.on('DELETE /api/v1/secrets/a/k', always(204, ''));
  expect((await run(['delete', 'a', 'k', '--force'])).err).toContain('secret a k deleted');
  expect(api.seen.at(-1)?.url).toBe('/api/v1/secrets/a/k?force=true');
});
