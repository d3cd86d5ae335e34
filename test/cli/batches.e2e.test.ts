import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Batch, BatcherDetail } from '../../domain/batches/batch-schema.ts';
import { answer, type FakeApi, problem, startFakeApi } from '../support/fakes/fake-api.ts';
import { cli } from '../support/stack/command-line.ts';

let api: FakeApi;
beforeEach(async () => {
  api = await startFakeApi();
});
afterEach(() => api.close());

const run = (...args: string[]) => cli(args, { url: api.url });

const batch = (id: string, over: Partial<Batch> = {}): Batch => ({
  id,
  key: 'web:0:',
  configuration: 'web',
  layers: '0',
  state: 'open',
  components: 3,
  leased: 0,
  opened_at: new Date(Date.now() - 5_000).toISOString(),
  why_not: 'window',
  until: new Date(Date.now() + 55_000).toISOString(),
  seconds_left: 54.2,
  refusal: null,
  tries: 0,
  probe: false,
  sent_at: null,
  session: null,
  ended_at: null,
  result: null,
  fault: null,
  reason: null,
  ...over,
});

const batcher = (over: Partial<BatcherDetail> = {}): BatcherDetail => ({
  state: 'working',
  paused_by: null,
  paused_at: null,
  backoff: null,
  results: { remembered: 20, failed: 4 },
  last_pass_at: '2026-11-21T10:00:00.000Z',
  last_pass_ms: 12,
  next_pass_at: '2026-11-21T10:00:10.000Z',
  open: 2,
  sent: 1,
  held_keys: 0,
  held_reason: null,
  due: 1,
  waits: { window: 1, lease: 2 },
  leased_components: 7,
  failed_components: 0,
  absent_configurations: [],
  ...over,
});

function lists(batches: Record<string, Batch[]>, state = batcher()): void {
  api.on('GET /api/v1/batches', ({ url }, response) => {
    const wanted = new URLSearchParams(url.split('?')[1]).get('state') ?? 'live';
    answer(response, 200, { batcher: state, batches: batches[wanted] ?? [], next: null });
  });
}

test('batch list says why each is not sent, and below how the batcher is', async () => {
  lists({
    live: [
      batch('b1'),
      batch('b2', { why_not: null, until: null, seconds_left: null }),
      batch('b3', { refusal: 'no configuration web', why_not: null }),
      batch('b5', { why_not: 'controller', seconds_left: 19.2, refusal: 'no repository there' }),
      batch('b4', { state: 'sent', why_not: null, session: { id: 'i', name: 'batcher-1', status: 'running' } }),
    ],
  });
  const { exit, out, err } = await run('batch', 'list');
  expect(exit).toBe(0);
  const lines = out.split('\n');
  expect(lines[1]).toMatch(/b1 .*web .*open .*window, 55s left/);
  expect(lines[2]).toMatch(/b2 .*due/);
  expect(lines[3]).toMatch(/b3 .*refused: no configuration web/);
  expect(lines[4]).toMatch(/b5 .*controller, 20s left: no repository there/);
  expect(lines[5]).toMatch(/b4 .*sent .*running .*batcher-1/);
  expect(err).toBe(
    'batcher: working; 2 open and 1 sent batches; 1 due; 1 window, 2 lease; 7 components in other sessions; ' +
      '4 of the last 20 failed; last pass 2026-11-21T10:00:00.000Z (12 ms)\n',
  );
});

test('batch list --all adds those that have ended; data alone goes to stdout', async () => {
  const ended = batch('e1', { state: 'ended', result: 'failure', reason: 'the session is gone', why_not: null });
  lists({ live: [batch('b1')], ended: [ended] });
  const { out, err } = await run('batch', 'list', '--all', '--configuration', 'web', '-o', 'json');
  expect(JSON.parse(out).map(({ id }: Batch) => id)).toEqual(['b1', 'e1']);
  expect(err).toBe('');
  expect(api.seen.map(({ url }) => url)).toEqual([
    '/api/v1/batches?state=live&configuration=web&limit=1000',
    '/api/v1/batches?state=ended&configuration=web&limit=1000',
  ]);
});

test('batch list --keys lists keys', async () => {
  const key = {
    key: 'web:0:failed',
    open: 2,
    sent: 1,
    components: 30,
    why_not: { key_backoff: 2 },
    failures_in_a_row: 21,
    backoff: { length: 60, since: '2026-11-21T10:00:00.000Z', until: '2026-11-21T10:01:00.000Z', probe: null },
    paused: true,
    paused_by: 'token/ann',
  };
  api.on('GET /api/v1/batches/keys', (_request, response) => answer(response, 200, { keys: [key], next: null }));
  const { out } = await run('batch', 'list', '--keys');
  expect(out).toMatch(/web:0:failed +2 +1 +30 +2 key_backoff +21 +2026-11-21T10:01:00.000Z +by token\/ann/);
});

test.each([
  [['list', '--keys', '--all'], 2],
  [['list', '--state', 'none'], 2],
  [['get'], 2],
  [['pause', '--keys', 'x'], 2],
])('batch %j is refused', async (args, status) => {
  expect((await run('batch', ...args)).exit).toBe(status);
  expect(api.seen).toEqual([]);
});

test('batch get shows its components, and 3 says that there is none', async () => {
  api.on('GET /api/v1/batches/b1', (_request, response) =>
    answer(response, 200, { ...batch('b1'), members: ['x1', 'x2'] }),
  );
  expect((await run('batch', 'get', 'b1')).out).toMatch(/why +window, 55s left[\s\S]*components +x1, x2/);
  api.on('GET /api/v1/batches/b2', (_request, response) => problem(response, 'batch_not_found', 'no b2'));
  expect((await run('batch', 'get', 'b2')).exit).toBe(3);
});

test.each([
  [['pause'], '/api/v1/batches/pause', {}],
  [['pause', '--key', 'web:0:'], '/api/v1/batches/pause', { key: 'web:0:' }],
  [['resume', '--key', 'web:0:'], '/api/v1/batches/resume', { key: 'web:0:' }],
  [['tick'], '/api/v1/batches/tick', undefined],
])('batch %j asks for it and says how the batcher is', async (args, path, body) => {
  const state = batcher({ state: 'paused', paused_by: 'token/ann' });
  api.on(`POST ${path}`, (_request, response) => answer(response, 200, state));
  const { exit, out, err } = await run('batch', ...args);
  expect([exit, out]).toEqual([0, '']);
  expect(err).toContain('batcher: paused by token/ann');
  expect(api.seen.map(({ method, url, body: sent }) => [method, url, sent])).toEqual([['POST', path, body]]);
  expect((await run('batch', ...args, '--dry-run=request')).out).toContain(`POST ${api.url}${path}`);
  expect(api.seen).toHaveLength(1);
});
