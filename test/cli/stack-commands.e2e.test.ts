import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { StackCommands } from '../../cli/context.ts';
import { CliFailure } from '../../cli/failure.ts';
import type { StackState } from '../../deploy/stack/stack-state.ts';
import { always, answer, type FakeApi, startFakeApi } from '../support/fakes/fake-api.ts';
import { cli } from '../support/stack/command-line.ts';

const PROCESS = { pid: 1, start_time: '1', boot_id: 'b' };
const part = { process: null, address: null, version: null, restarts: 0, started_at: null, last_exit: null };

const state = (url: string): StackState => ({
  state: 'degraded',
  reason: 'worker is restarting',
  supervisor: PROCESS,
  started_at: '2026-11-21T10:00:00.000Z',
  versions: { muster: '0.1.0', node: '24', ansible: null },
  links: { api: url, docs: `${url}/docs`, temporal_ui: null },
  components: {
    worker: { ...part, state: 'restarting', reason: 'ended with status 1', restarts: 4 },
    api: { ...part, state: 'healthy', reason: null, address: '127.0.0.1:8100', version: '0.1.0' },
    temporal: { ...part, state: 'healthy', reason: null },
    postgres: { ...part, state: 'healthy', reason: null, version: '18' },
  },
});

const status = (over: object = {}) => ({
  versions: { muster: '0.1.0', cfs: '1.31.1' },
  database: { ok: true, reason: null },
  engine: { ok: true, reason: null },
  counts: { sessions: { pending: 1, running: 2, complete: 3 }, queue: 1, active_runs: 2 },
  links: { ui: 'http://x/ui/', docs: 'http://x/docs', openapi: 'http://x/openapi.json', temporal_ui: null },
  ...over,
});

let api: FakeApi;
/** Of another installation. */
let other: FakeApi;

beforeEach(async () => {
  api = await startFakeApi();
  other = await startFakeApi();
});
afterEach(async () => {
  await api.close();
  await other.close();
});

/** A stack that does what a test says, and nothing else. */
const stack = (over: Partial<StackCommands> = {}): StackCommands => ({
  up: () => Promise.reject(new Error('not expected')),
  foreground: () => Promise.reject(new Error('not expected')),
  stop: () => Promise.reject(new Error('not expected')),
  backup: () => Promise.reject(new Error('not expected')),
  restore: () => Promise.reject(new Error('not expected')),
  state: async () => state(api.url),
  ...over,
});

const run = (args: string[], over: Partial<StackCommands> = {}) => cli(args, { url: api.url, stack: stack(over) });

describe('status', () => {
  test('shows every part with its reason, and what the API sees', async () => {
    api.on('GET /api/v1/status', always(200, status()));
    const { exit, out } = await run(['status', '-o', 'wide']);
    expect(exit).toBe(1);
    expect(out).toMatch(/^worker +restarting +4 +ended with status 1$/m);
    expect(out).toMatch(/^api +healthy +127\.0\.0\.1:8100 +0\.1\.0 +0$/m);
    expect(out).toMatch(/^stack +degraded: worker is restarting$/m);
    expect(out).toMatch(/^sessions +1 pending, 2 running, 3 complete$/m);
  });

  test('what an administrator has to decide is told by `status` and `up`, and is no failure', async () => {
    api.on('GET /api/v1/status', always(200, status({ notices: ['name the hosts'] })));
    const well = { ...state(api.url), state: 'running' as const, reason: null };
    const shown = await run(['status'], { state: async () => well });
    expect([shown.exit, shown.err]).toEqual([0, expect.stringContaining('name the hosts')]);
    const up = await run(['up'], { up: async () => ({ outcome: 'started', state: well }) });
    expect([up.exit, up.err]).toEqual([0, expect.stringContaining('name the hosts')]);
  });

  test('an ill part is exit status 1 and says why', async () => {
    api.on('GET /api/v1/status', always(200, status({ engine: { ok: false, reason: 'no server' }, counts: null })));
    const { exit, out } = await run(['status']);
    expect(exit).toBe(1);
    expect(out).toMatch(/^engine for the api +not available +no server$/m);
  });

  test('without a worker it is exit status 1 and says so', async () => {
    const workers = { ok: true, reason: null, count: 2 };
    api.on('GET /api/v1/status', always(200, status({ workers })));
    const well = { state: async () => ({ ...state(api.url), state: 'running' as const, reason: null }) };
    const { exit, out } = await run(['status'], well);
    expect(exit).toBe(0);
    expect(out).toMatch(/^workers +2 at work$/m);
    const none = { ok: false, reason: 'no worker has asked for work', count: 0 };
    api.on('GET /api/v1/status', always(200, status({ workers: none })));
    const without = await run(['status'], well);
    expect(without.exit).toBe(1);
    expect(without.out).toMatch(/^workers +not available +no worker has asked for work$/m);
    expect(without.out).toMatch(/^workers +0 at work$/m);
  });

  test('an API that does not answer is exit status 7; the stack is shown all the same', async () => {
    await api.close();
    const { exit, out, err } = await run(['status']);
    expect(exit).toBe(7);
    expect(out).toMatch(/^worker +restarting/m);
    expect(out).toMatch(/^api +http:\/\/127\.0\.0\.1:\d+ does not answer \(ECONNREFUSED\)$/m);
    expect(err).toContain('./muster up');
    api = await startFakeApi();
  });

  test('a stack that is degraded or has failed is exit status 1', async () => {
    api.on('GET /api/v1/status', always(200, status()));
    for (const [word, exit] of [
      ['running', 0],
      ['degraded', 1],
      ['failed', 1],
    ] as const) {
      expect((await run(['status'], { state: async () => ({ ...state(api.url), state: word }) })).exit).toBe(exit);
    }
  });

  test('of a stack that did not start the figures of another one at its address are not shown', async () => {
    api.on('GET /api/v1/status', always(200, status()));
    api.on('GET /healthz', always(200, {}));
    for (const [word, exit] of [
      ['failed', 1],
      ['stopped', 7],
    ] as const) {
      const shown = await run(['status'], { state: async () => ({ ...state(api.url), state: word }) });
      expect(shown.exit).toBe(exit);
      expect(shown.out).not.toContain('complete');
      expect(shown.err).toContain(`another stack answers at ${api.url}`);
    }
  });

  test('of an API that is not of the stack here the stack is not shown', async () => {
    other.on('GET /api/v1/status', always(200, status()));
    const { exit, out } = await cli(['status'], { url: other.url, stack: stack() });
    expect(exit).toBe(0);
    expect(out).not.toMatch(/worker|degraded/);
    expect(out).toContain(`api                   answers  ${other.url}`);
  });

  test('--url asks that API alone', async () => {
    api.on('GET /api/v1/status', always(200, status()));
    const { exit, out } = await run(['status', '--url', api.url, '-o', 'json']);
    expect(exit).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      url: api.url,
      api: { versions: { muster: '0.1.0' } },
      error: null,
      stack: null,
    });
  });
});

describe('up', () => {
  test('says what comes up and where it is', async () => {
    const { exit, err } = await run(['up'], {
      up: async (tell) => {
        tell('postgres is up');
        return { outcome: 'started', state: state(api.url) };
      },
    });
    expect(exit).toBe(0);
    expect(err).toBe(`postgres is up\nthe stack is up at ${api.url}; \`./muster down\` stops it\n`);
  });

  test('a start that fails ends with its reason and its exit status', async () => {
    const { exit, err } = await run(['up'], {
      up: () => Promise.reject(new CliFailure('stack_failed', 'port 8100 is taken', 5)),
    });
    expect([exit, err]).toEqual([5, 'error: stack_failed: port 8100 is taken\n']);
  });

  test('--foreground ends as the stack does', async () => {
    expect((await run(['up', '--foreground'], { foreground: async () => 5 })).exit).toBe(5);
  });
});

describe('down', () => {
  test('names the image jobs whose logins stay', async () => {
    const jobs = [
      { id: 'j1', status: 'waiting_on_user' },
      { id: 'j2', status: 'success' },
    ];
    api.on('GET /apis/ims/jobs', always(200, jobs));
    const { exit, err } = await run(['down'], { stop: async () => ({ outcome: 'stopped' }) });
    const stays = 'images stay open for logins: jobs j1; the next start goes on with them';
    expect([exit, err]).toEqual([0, `the stack is stopped\n${stays}\n`]);
  });

  test('is a conflict while playbooks run, names them and says what to do', async () => {
    api.on('GET /api/v1/sessions', always(200, { sessions: [{ id: 'id1', name: 'd1' }], next: null }));
    const progress = { layer: 0, layers_total: 1, hosts: { seen: 1 }, elapsed: 12.3 };
    api.on('GET /api/v1/sessions/d1/progress', always(200, progress));
    const layers = [{ index: 0, name: 'base', playbook: 'site.yml' }];
    api.on('GET /api/v1/sessions/d1', always(200, { snapshot: { layers } }));
    const { exit, err } = await run(['down'], {
      stop: async ({ keepRuns }) =>
        keepRuns ? { outcome: 'stopped' } : { outcome: 'runs_active', runs: ['id1-1-0', 'r-1-0'] },
    });
    expect(exit).toBe(5);
    expect(err).toContain('error: runs_active: 2 playbooks run: session d1 (layer 1/1 site.yml, 1 host, 12 s), r-1-0');
    expect(err).toContain('--keep-runs');
    expect(err).toContain('--cancel-runs');
  });

  test('--keep-runs leaves them', async () => {
    const asked: boolean[] = [];
    const { exit, err } = await run(['down', '--keep-runs'], {
      stop: async ({ keepRuns }) => {
        asked.push(keepRuns);
        return { outcome: 'stopped' };
      },
    });
    expect([exit, err, asked]).toEqual([0, 'the stack is stopped\n', [true]]);
  });

  const counts = (pending: number, running: number) => ({ counts: { sessions: { pending, running, complete: 0 } } });

  test('--cancel-runs cancels thousands by one request at a time, in few lines, waits for the end and then stops', async () => {
    const left = [5_000, 3_200, 1_800, 1_790, 2, 0];
    let asked = 0;
    api.on('POST /api/v1/sessions/cancel', (_request, response) => {
      asked += 1;
      answer(response, 202, { cancelled: asked === 1 ? 5_000 : 0, ended: 0, complete: [], missing: [] });
    });
    api.on('GET /api/v1/status', (_request, response) => answer(response, 200, counts(0, left.shift() ?? 0)));
    const { exit, err } = await run(['down', '--cancel-runs'], {
      stop: async () => {
        expect(left).toEqual([]);
        return { outcome: 'stopped' };
      },
    });
    expect(exit).toBe(0);
    expect(err).toBe(
      `${['1,800', '3,200', '4,998', '5,000'].map((done) => `cancelled ${done} of 5,000 sessions\n`).join('')}the stack is stopped\n`,
    );
    const [first] = api.seen.filter(({ method }) => method === 'POST');
    expect(first?.body).toEqual({ status: ['pending', 'running'], reason: 'the stack is stopped' });
    expect(api.seen.some(({ url }) => url.startsWith('/v3/sessions'))).toBe(false);
  });

  test('--cancel-runs gives up a minute after the last progress, and names ten sessions', async () => {
    api.on('POST /api/v1/sessions/cancel', always(202, { cancelled: 0, ended: 0, complete: [], missing: [] }));
    api.on('GET /api/v1/status', always(200, counts(12, 0)));
    const sessions = Array.from({ length: 12 }, (_, n) => ({ name: `s${n}` }));
    api.on('GET /v3/sessions', ({ url }, response) =>
      answer(response, 200, { sessions: url.includes('pending') ? sessions : [], next: null }),
    );
    let now = 0;
    const { exit, err } = await cli(['down', '--cancel-runs'], {
      ...{ url: api.url, stack: stack({ state: async () => state(api.url) }) },
      now: () => (now += 25_000),
    });
    expect(exit).toBe(6);
    expect(err).toContain('12 sessions have not ended: s0, s1, s2, s3, s4, s5, s6, s7, s8, s9 and 2 more\n');
  });

  test('--cancel-runs cancels nothing elsewhere: neither where no stack runs here, nor where MUSTER_URL names another', async () => {
    const downWith = (own: StackState | null) =>
      cli(['down', '--cancel-runs'], {
        ...{ url: other.url, token: 'of-another', stackToken: 'own' },
        stack: stack({ state: async () => own, stop: async () => ({ outcome: 'stopped' }) }),
      });
    const none = 'no stack runs here\n';
    for (const own of [null, { ...state(other.url), state: 'stopped' as const }]) {
      expect(await downWith(own)).toMatchObject({ exit: 0, err: none });
    }
    api.on('POST /api/v1/sessions/cancel', always(202, { cancelled: 0, ended: 0, complete: [], missing: [] }));
    api.on('GET /api/v1/status', always(200, counts(0, 0)));
    expect(await downWith(state(api.url))).toMatchObject({ exit: 0, err: 'the stack is stopped\n' });
    expect([api.seen.length > 0, other.seen]).toEqual([true, []]);
    expect(new Set(api.seen.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer own']));
    await cli(['down', '--cancel-runs', '--url', other.url], { stack: stack({ state: async () => state(api.url) }) });
    expect(other.seen).not.toEqual([]);
  });

  const plans = (running: number, paused: number) => ({
    ...counts(0, 0),
    plans: {
      ...{ running, paused },
      open: Array.from({ length: Math.min(10, running + paused) }, (_, n) => ({ id: `p${n}`, name: 'friday' })),
    },
  });

  test('a plan that runs or is paused is a conflict, unless it is kept', async () => {
    api.on('GET /api/v1/status', always(200, plans(1, 11)));
    const ofStack = { stop: async () => ({ outcome: 'stopped' as const }) };
    const { exit, err } = await run(['down'], ofStack);
    expect(exit).toBe(5);
    expect(err).toContain('error: runs_active: 12 plans run: friday (p0), friday (p1)');
    expect(err).toContain('and 2 more');
    expect(err).toContain('--keep-runs');
    expect((await run(['down', '--keep-runs'], ofStack)).exit).toBe(0);
  });

  test('--cancel-runs aborts plans and waits for their ends', async () => {
    const left = [0, 2, 2, 1, 0];
    api.on('POST /api/v1/sessions/cancel', always(202, { cancelled: 0, ended: 0, complete: [], missing: [] }));
    api.on('GET /api/v1/status', (_request, response) => answer(response, 200, plans(left.shift() ?? 0, 0)));
    api.on('POST /api/v1/propagation/plans/p0/abort', always(200, {}));
    api.on('POST /api/v1/propagation/plans/p1/abort', always(409, { code: 'plan_state', title: 'over' }));
    const { exit, err } = await run(['down', '--cancel-runs'], {
      stop: async () => {
        expect(left).toEqual([]);
        return { outcome: 'stopped' };
      },
    });
    expect([exit, err]).toEqual([0, 'aborts 2 plans\nthe stack is stopped\n']);
    expect(api.seen.filter(({ url }) => url.endsWith('/abort')).map(({ url }) => url.split('/').at(-2))).toEqual([
      'p0',
      'p1',
      'p0',
      'p1',
      'p0',
    ]);
  });

  test('--cancel-runs cancels reconciles of operators and waits for their ends; they are named while they run', async () => {
    const left = [0, 0, 2, 1, 0];
    const open = (count: number) => ({ ...counts(0, 0), operators: { live: 1, reconciles_open: count, due: 0 } });
    api.on('POST /api/v1/sessions/cancel', always(202, { cancelled: 0, ended: 0, complete: [], missing: [] }));
    api.on('GET /api/v1/status', (_request, response) => answer(response, 200, open(left.shift() ?? 0)));
    api.on('GET /api/v1/operator/resources', always(200, { resources: [{ id: 'r1' }, { id: 'r2' }], next: null }));
    api.on('POST /api/v1/operator/resources/r1/cancel', always(202, {}));
    const over = { code: 'operator_reconcile_not_found', title: 'over', status: 404 };
    api.on('POST /api/v1/operator/resources/r2/cancel', always(404, over));
    const { exit, err } = await run(['down', '--cancel-runs'], {
      stop: async () => {
        expect(left).toEqual([]);
        return { outcome: 'stopped' };
      },
    });
    expect([exit, err]).toEqual([0, 'cancels 2 reconciles\nthe stack is stopped\n']);
    const id = '00000000-0000-4000-8000-000000000001';
    const names = { kind: 'Widget', namespace: 'ns', name: 'w1' };
    api.on(`GET /api/v1/operator/reconciles/${id}`, always(200, names));
    api.on('GET /api/v1/sessions', always(200, { sessions: [], next: null }));
    const runs = [`reconcile-${id}-1`];
    const refused = await run(['down'], { stop: async () => ({ outcome: 'runs_active', runs }) });
    expect(refused.err).toContain(`error: runs_active: 1 playbook runs: Widget ns/w1 (reconcile ${id})`);
  });

  test('both at once are a mistake', async () => {
    expect((await run(['down', '--keep-runs', '--cancel-runs'])).exit).toBe(2);
  });

  test('nothing that runs is fine', async () => {
    const { exit, err } = await run(['down'], { stop: async () => ({ outcome: 'not_running' }) });
    expect([exit, err]).toEqual([0, 'no stack runs here\n']);
  });
});
