/** doctor, version, open, api, fleet and help. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { clockCheck, versionCheck } from '../../cli/commands/service/client-checks.ts';
import { always, answer, type FakeApi, problem, startFakeApi } from '../support/fakes/fake-api.ts';
import { type CommandLineOptions, cli } from '../support/stack/command-line.ts';

const ok = { ok: true, reason: null };
const status = (over: object = {}) => ({
  versions: { muster: '1.2.3', cfs: '1.34.0' },
  ...{ database: ok, engine: ok, setup: ok, workers: { ...ok, count: 1 }, counts: null },
  links: { ui: 'https://muster.test/ui/', docs: '', openapi: '', temporal_ui: null },
  ...over,
});

let api: FakeApi;
beforeEach(async () => {
  api = await startFakeApi();
  api.on('GET /api/v1/status', always(200, status()));
  api.on(
    'GET /api/v1/me',
    always(200, { name: 'token/ci', kind: 'token', role: 'reader', expires_at: null, lanes: [] }),
  );
});
afterEach(() => api.close());

const run = (args: string[], options: CommandLineOptions = {}) => cli(args, { url: api.url, ...options });

describe('doctor', () => {
  const checks = async (options: CommandLineOptions = {}) => {
    const { exit, out, err } = await run(['doctor', '-o', 'json'], options);
    const found = (JSON.parse(out) as { checks: { name: string; ok: boolean; detail: string }[] }).checks;
    return {
      exit,
      err,
      of: (name: string) => found.find((one) => one.name === name),
      names: found.map(({ name }) => name),
    };
  };

  test('finds all well', async () => {
    const { exit, names, of } = await checks();
    expect(exit).toBe(0);
    expect(names).toEqual(['address', 'token', 'versions', 'clock', 'database', 'engine', 'set-up', 'workers']);
    expect(of('token')?.detail).toBe('token/ci, role reader');
  });

  test('says what is ill and what to do, with exit status 1', async () => {
    const workers = { ok: false, reason: 'no worker takes up work', count: 0 };
    api.on('GET /api/v1/status', always(200, status({ workers, versions: { muster: '3.0.0', cfs: '1' } })));
    const { exit, of } = await checks({ now: () => Date.now() + 120_000 });
    expect(exit).toBe(1);
    expect(of('workers')).toMatchObject({ ok: false, detail: 'no worker takes up work' });
    expect([of('versions')?.ok, of('clock')?.ok]).toEqual([false, false]);
    const table = await run(['doctor']);
    expect(table.err).toContain('workers: start a worker');
  });

  test('shows what a server checks itself', async () => {
    const own = [
      { name: 'disk', ok: false, detail: '1.0 GiB of 100.0 GiB are free at /data', fix: 'make room at /data' },
    ];
    api.on('GET /api/v1/system', always(200, { ...status(), checks: own }));
    const { exit, names } = await checks();
    expect([exit, names]).toEqual([1, ['address', 'token', 'versions', 'clock', 'disk']]);
    expect((await run(['doctor'])).err).toContain('disk: make room at /data');
  });

  test('says that everything is stopped, and how it goes on', async () => {
    const stop = { stopped: true, since: '2026-11-21T10:00:00Z', actor: null, reason: 'power', complete: true };
    api.on('GET /api/v1/status', always(200, status({ stop })));
    expect((await checks()).of('stop')).toMatchObject({ ok: false, fix: expect.stringContaining('./muster go') });
  });

  test('says that a token is refused, that nobody answers, that a certificate is not there', async () => {
    for (const path of ['/api/v1/me', '/api/v1/system', '/api/v1/status'])
      api.on(`GET ${path}`, (_request, response) => problem(response, 'unauthenticated', 'a token is needed'));
    const refused = await checks();
    expect([refused.exit, refused.of('token')?.ok, refused.of('server')]).toEqual([1, false, undefined]);
    const away = await checks({ url: 'http://127.0.0.1:1' });
    expect([away.exit, away.of('server')?.ok]).toEqual([1, false]);
    const plain = await checks({ url: api.url.replace('http:', 'https:') });
    expect([plain.exit, plain.of('certificate')?.ok]).toEqual([1, false]);
  });

  test.each([
    ['1.2.3', '1.2.9', true],
    ['1.2.3', '1.3.0', true],
    ['1.4.0', '1.2.9', false],
    ['2.0.0', '1.0.0', false],
  ])('version %s with a server %s: %s', (client, server, isWell) => {
    expect(versionCheck(client, server).ok).toBe(isWell);
  });

  test.each([
    [0, true],
    [29_000, true],
    [-31_000, false],
    [Number.NaN, true],
  ])('a clock that is %i ms apart: %s', (apart, isWell) => {
    expect(clockCheck(1_000_000 + apart, 1_000_000).ok).toBe(isWell);
  });
});

describe('version', () => {
  test('of both', async () => {
    expect((await run(['version'])).out).toBe(`client  1.2.3\nserver  1.2.3 (CFS 1.34.0) at ${api.url}\n`);
  });
  test('of the client alone, also when the server is away', async () => {
    expect(await run(['version', '--client'])).toEqual({ exit: 0, out: 'client  1.2.3\n', err: '' });
    expect(api.seen).toEqual([]);
    const away = await run(['version', '-o', 'json'], { url: 'http://127.0.0.1:1' });
    expect([away.exit, JSON.parse(away.out)]).toEqual([7, { client: '1.2.3', server: null }]);
  });
});

describe('open', () => {
  test('writes the address of the UI, of a component and of just this session', async () => {
    api.on('GET /api/v1/sessions/s1', always(200, { id: 'u-u-i-d', name: 's1' }));
    api.on('GET /v3/components/a%2Fb', always(200, { id: 'a/b' }));
    expect((await run(['open'])).out).toBe('https://muster.test/ui/\n');
    expect((await run(['open', 'component', 'a/b'])).out).toBe('https://muster.test/ui/components/a%2Fb\n');
    for (const words of [
      ['open', 'session', 's1'],
      ['session', 'open', 's1'],
    ])
      expect((await run(words)).out).toBe('https://muster.test/ui/sessions/s1?id=u-u-i-d\n');
  });

  test('opens a browser for a person alone', async () => {
    const opened: string[] = [];
    const browse = async (url: string) => opened.push(url) > 0;
    await run(['open'], { browse });
    expect(opened).toEqual([]);
    await run(['open'], { browse, terminal: true });
    expect(opened).toEqual(['https://muster.test/ui/']);
    expect((await run(['open'], { browse: async () => false, terminal: true })).err).toContain('no browser was found');
  });

  test.each([
    [['open', 'rollout', 'x'], 2],
    [['open', 'session'], 2],
    [['open', 'session', 'nope'], 3],
  ])('%j is refused', async (words, exit) => {
    expect((await run(words)).exit).toBe(exit);
  });
});

describe('api', () => {
  test('sends what it is told, and writes the answer as it came', async () => {
    api.on('GET /api/v1/x', (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"a": 1}');
    });
    expect(await run(['api', 'get', '/api/v1/x?b=c'], { token: 'muster_t' })).toEqual({
      exit: 0,
      out: '{"a": 1}\n',
      err: '',
    });
    expect(api.seen[0]).toMatchObject({ url: '/api/v1/x?b=c', headers: { authorization: 'Bearer muster_t' } });
    expect((await run(['api', 'GET', '/api/v1/x'], { terminal: true })).out).toBe('{\n  "a": 1\n}\n');
  });

  test('takes a body from a file or stdin, and from no word', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'muster-api-'));
    const file = join(folder, 'body.json');
    await writeFile(file, '{"reason": "why"}');
    api.on('POST /api/v1/go', (_request, response) => answer(response, 204));
    expect(await run(['api', 'POST', '/api/v1/go', '-d', `@${file}`])).toEqual({ exit: 0, out: '', err: '' });
    expect(await run(['api', 'POST', '/api/v1/go', '-d', '-'], { stdin: '{"reason": "why"}' })).toMatchObject({
      exit: 0,
    });
    expect(api.seen.map(({ body }) => body)).toEqual([{ reason: 'why' }, { reason: 'why' }]);
    await rm(folder, { recursive: true });
    api.seen.length = 0;
    for (const data of ['{"a": 1}', '@/nonexistent'])
      expect((await run(['api', 'POST', '/api/v1/go', '-d', data])).exit).toBe(2);
    expect((await run(['api', 'POST', '/x', '-d', '-'], { stdin: '[1' })).err).toContain('is not closed');
    expect(api.seen).toEqual([]);
  });

  test('asks the dry run with path and query apart', async () => {
    api.on(
      'POST /api/v1/dry-run',
      always(200, { changed: 1, unchanged: 0, changes: [], becomes: [], hosts: null, warnings: [] }),
    );
    expect((await run(['api', 'DELETE', '/v3/sessions?status=complete', '--dry-run'])).exit).toBe(0);
    expect(api.seen.map(({ body }) => body)).toEqual([
      { method: 'DELETE', path: '/v3/sessions', query: { status: 'complete' } },
    ]);
    expect((await run(['api', 'GET', '/v3/sessions', '--dry-run'])).exit).toBe(2);
  });

  test('refusals are those of every command', async () => {
    expect(await run(['api', 'GET', '/nope'])).toMatchObject({ exit: 3, out: '' });
    expect((await run(['api', 'FETCH', '/nope'])).exit).toBe(2);
    expect((await run(['api', 'GET', 'nope'])).exit).toBe(2);
  });
});

test('fleet: counts of the API', async () => {
  const batcher = {
    ...{ state: 'working', paused_by: null, paused_at: null, backoff: null, results: { remembered: 0, failed: 0 } },
    ...{
      last_pass_at: null,
      last_pass_ms: null,
      next_pass_at: null,
      open: 0,
      sent: 0,
      held_keys: 0,
      held_reason: null,
    },
  };
  const stop = { stopped: false, since: null, actor: null, reason: null, complete: true };
  const fleet = {
    ...{ total: 3, by_status: { configured: 1, pending: 2, failed: 0, unconfigured: 0 }, enabled: 2, disabled: 1 },
    ...{ by_configuration: [{ configuration: 'web', count: 3 }], batcher, stop, as_of: '2026-11-21T10:00:00Z' },
  };
  api.on('GET /api/v1/fleet', always(200, fleet));
  const { out } = await run(['fleet']);
  expect(out).toMatch(/^components {4}3\nconfigured {4}1\npending {7}2\n/);
  expect(out).toContain('CONFIGURATION  COMPONENTS\nweb            3\n');
  expect(JSON.parse((await run(['fleet', '-o', 'json'])).out)).toEqual(fleet);
});

describe('help', () => {
  test('of nothing, of a noun and of a verb is data, with exit status 0', async () => {
    const all = await run([]);
    expect([all.exit, all.err, all.out]).toEqual([0, '', expect.stringMatching(/^Usage: muster /)]);
    expect((await run(['help'])).out).toBe(all.out);
    expect((await run(['help', 'session'])).out).toBe((await run(['session', '--help'])).out);
    const run_ = await run(['help', 'session', 'run']);
    expect([run_.exit, run_.out]).toEqual([0, expect.stringMatching(/^Usage: muster session run /)]);
    expect(run_.out).toContain('./muster session run --configuration web');
    expect(run_.out).toContain('Everywhere: --context');
    expect(all.out).not.toMatch(/^ {2}complete /m);
  });

  test('-q leaves errors and warnings', async () => {
    api.on('GET /v3/components', always(200, { components: [], next: null }));
    expect(await run(['-q', 'component', 'list'])).toEqual({ exit: 0, out: '', err: '' });
    expect((await run(['session', 'get', 'nope', '-q'])).err).toMatch(/^error: /);
  });
});
