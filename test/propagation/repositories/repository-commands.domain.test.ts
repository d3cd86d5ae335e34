/** The command line of repositories that are read from git: requests, what is shown, how it waits. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { always, type FakeApi, type Handler, problem, startFakeApi } from '../../support/fakes/fake-api.ts';
import { cli } from '../../support/stack/command-line.ts';

const PATH = '/api/v1/propagation/repositories';
const url = 'https://git.example.com/defs.git';
let api: FakeApi;
beforeEach(async () => {
  api = await startFakeApi();
});
afterEach(() => api.close());

const run = (...args: string[]) => cli(['repository', ...args], { url: api.url, stdin: '' });
const seen = () => api.seen.map(({ method, url: path, body }) => [method, path.replace(PATH, ''), body]);

const SITE = {
  ...{ name: 'site', kind: 'git', state: 'syncing', created_at: '2026-11-21T10:00:00Z', url, ref: 'main', path: '' },
  ...{ source: 'site-git', commit: null, synced_at: null, code: null, reason: null },
};
const SYNCED = { ...SITE, state: 'synced', commit: 'c'.repeat(40), synced_at: '2026-11-21T10:00:02Z' };
const FAILED = { ...SITE, state: 'failed', code: 'branch_not_found', reason: 'no branch main' };
/** What is answered one after the other; the last answer stays. */
const inTurn = (...answers: object[]) => {
  const left = [...answers];
  const answer: Handler = (request, response) =>
    always(200, (left.length > 1 ? left.shift() : left[0]) ?? {})(request, response);
  return answer;
};

test('add --git sends what is named, and nothing else', async () => {
  api.on(`POST ${PATH}`, always(201, SITE));
  const options = ['--ref', 'main', '--path', 'defs', '--source', 'site-git'];
  const { exit, err } = await run('add', 'site', '--git', url, ...options);
  expect([exit, err]).toEqual([0, expect.stringContaining('repository site created')]);
  await run('add', 'plain', '--git', url);
  expect(seen()).toEqual([
    ['POST', '', { name: 'site', url, ref: 'main', path: 'defs', source: 'site-git' }],
    ['POST', '', { name: 'plain', url }],
  ]);
});

test('--dry-run makes no request, and what does not fit is refused before one', async () => {
  expect((await run('add', 'site', '--git', url, '--dry-run=request', '--wait')).exit).toBe(0);
  expect((await run('sync', 'site', '--dry-run=request')).exit).toBe(0);
  for (const args of [
    ['add', 'site'],
    ['add', 'site', 'folder', '--git', url],
    ['add', 'site', 'folder', '--ref', 'main'],
    ['add', 'site', 'folder', '--wait'],
    ['add', 'site', '--git', url, '--overwrite'],
    ['sync', 'site', '--timeout', '5'],
  ]) {
    expect([args, (await run(...args)).exit]).toEqual([args, 2]);
  }
  expect(api.seen).toEqual([]);
});

test('sync asks, and --wait ends with the sync', async () => {
  api.on(`POST ${PATH}/site/sync`, always(202, SITE));
  expect(await run('sync', 'site')).toMatchObject({ exit: 0, err: expect.stringContaining('is being read') });
  api.on(`GET ${PATH}/site`, inTurn(SITE, SYNCED));
  expect(await run('sync', 'site', '--wait')).toMatchObject({
    exit: 0,
    err: expect.stringContaining('is synced: commit ccc'),
  });
  api.on(`GET ${PATH}/site`, always(200, FAILED));
  expect(await run('sync', 'site', '--wait')).toMatchObject({
    exit: 1,
    err: expect.stringContaining('branch_not_found: no branch main'),
  });
  api.on(`GET ${PATH}/site`, always(200, SITE));
  expect(await run('sync', 'site', '--wait', '--timeout', '1')).toMatchObject({
    exit: 6,
    err: expect.stringContaining('goes on'),
  });
});

test('--wait says that no worker is at work, once, and goes on', async () => {
  api.on(`POST ${PATH}/site/sync`, always(202, SITE));
  api.on(`GET ${PATH}/site`, inTurn(SITE, SITE, SITE, SYNCED));
  api.on('GET /api/v1/status', always(200, { workers: { ok: false, reason: 'none', count: 0 } }));
  let time = 0;
  const now = () => {
    time += 11_000;
    return time;
  };
  const { exit, err } = await cli(['repository', 'sync', 'site', '--wait'], { url: api.url, stdin: '', now });
  expect([exit, err.match(/no worker is at work/g)]).toEqual([0, ['no worker is at work']]);
  api.on(`GET ${PATH}/site`, inTurn(SITE, SITE, SYNCED));
  api.on('GET /api/v1/status', always(200, { workers: { ok: true, reason: null, count: 1 } }));
  const other = await cli(['repository', 'sync', 'site', '--wait'], { url: api.url, stdin: '', now });
  expect([other.exit, other.err.includes('no worker')]).toEqual([0, false]);
});

test('a refusal has its exit status', async () => {
  api.on(`POST ${PATH}/none/sync`, (_, response) => problem(response, 'source_unknown', 'no source'));
  expect(await run('sync', 'none', '--wait')).toMatchObject({
    exit: 2,
    err: expect.stringContaining('source_unknown'),
  });
});

test('get shows where it is read from, and why the last sync failed', async () => {
  api.on(`GET ${PATH}/site`, always(200, { ...FAILED, definitions: { web: ['1.0.0'] } }));
  const { out } = await run('get', 'site');
  expect(out).toMatch(/URL +https:.*\nRef +main\nSource +site-git\nState +failed\nSynced +never\nFailure +branch_not/);
  expect(out).toMatch(/web +1\.0\.0\n$/);
  api.on(`GET ${PATH}/site`, always(200, SYNCED));
  const synced = (await run('get', 'site')).out;
  expect(synced).toContain(`Commit  ${'c'.repeat(40)}`);
  expect(synced).not.toMatch(/Failure|DEFINITION/);
});
