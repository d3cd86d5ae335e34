/** The command line of plans: which requests each verb makes, what it shows, and its exit status. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { planReportText } from '../../../domain/propagation/plan-text.ts';
import {
  always,
  answer,
  type FakeApi,
  type Handler,
  openStream,
  problem,
  send,
  startFakeApi,
} from '../../support/fakes/fake-api.ts';
import { cli, startCli } from '../../support/stack/command-line.ts';

const BASE = '/api/v1/propagation';
const ID = '0a000000-0000-4000-8000-000000000001';
const OTHER = '0b000000-0000-4000-8000-000000000002';
const PLAN = `${BASE}/plans/${ID}`;
const COUNTS = { pending: 0, in_progress: 0, error_retry: 0, success: 2, error: 0, noop: 0, skipped: 0, blocked: 0 };

let api: FakeApi;
beforeEach(async () => {
  api = await startFakeApi();
});
afterEach(() => api.close());

const run = (...args: string[]) => cli(args, { url: api.url });
const seen = () => api.seen.map(({ method, url, body }) => [method, url.replace(BASE, ''), body]);

const plan = (more: object = {}) => ({
  ...{ id: ID, name: 'night', state: 'running', wish: null, run_number: 1, summary: COUNTS, percent: 100 },
  ...{ cycles: [], suppressed: [], recovered: [], unsettled: [], follow_up: [] },
  ...{ created_at: '2026-01-01T00:00:00.000Z', started_at: null, ended_at: null },
  ...more,
});
const node = (id: string, status: string, more: object = {}) => ({
  ...{ node: id, status, outcome: null, reason: null, message: null, code: null, attempts: 0, blocked_by: [] },
  ...{ triggered_by: [], start_time: null, end_time: null },
  ...more,
});
const report = (nodes: object[]) => ({
  ...{ nodes, is_cut: false, total_time: 3, total_delta: 4, summary: COUNTS, percent: 100 },
  ...{ cycles: [], recovered: [], unsettled: [], follow_up: [] },
});

/** Answers a report as JSON or as text, as the API does. */
const reporting =
  (nodes: object[]): Handler =>
  ({ headers }, response) => {
    const body = report(nodes);
    if (headers.accept !== 'text/plain') return answer(response, 200, body);
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.end(planReportText(body as never));
  };

describe('a plan is named', () => {
  test('by its id, by how the id begins, and by its age', async () => {
    api.on(`GET ${BASE}/plans`, (request, response) =>
      always(200, { plans: [plan(), plan({ id: OTHER })], next: null })(request, response),
    );
    for (const id of [ID, OTHER]) api.on(`POST ${BASE}/plans/${id}/stop`, always(202, plan({ id, wish: 'stop' })));
    expect((await run('plan', 'stop', ID)).err).toBe(`plan ${ID} is running, and is to stop\n`);
    expect((await run('plan', 'stop', 'last')).exit).toBe(0);
    expect((await run('plan', 'stop', 'last1')).exit).toBe(0);
    expect(seen()).toEqual([
      ['POST', `/plans/${ID}/stop`, undefined],
      ['GET', '/plans?limit=1', undefined],
      ['POST', `/plans/${ID}/stop`, undefined],
      ['GET', '/plans?limit=2', undefined],
      ['POST', `/plans/${OTHER}/stop`, undefined],
    ]);
    expect(await run('plan', 'stop', 'last7')).toMatchObject({
      exit: 3,
      err: expect.stringContaining('plan_not_found'),
    });
    expect(await run('plan', 'stop', '0')).toMatchObject({ exit: 2, err: expect.stringContaining('several plans') });
    expect(await run('plan', 'stop', 'night')).toMatchObject({
      exit: 2,
      err: expect.stringContaining('names no plan'),
    });
    api.on(`GET ${BASE}/plans`, always(200, { plans: [plan()], next: null }));
    expect((await run('plan', 'stop', '0a00')).exit).toBe(0);
    api.on(`GET ${BASE}/plans`, always(200, { plans: [], next: null }));
    expect((await run('plan', 'stop', '0c')).exit).toBe(3);
  });
});

describe('change process', () => {
  test('answers the id of the plan, and shows a preview as a graph', async () => {
    const nodes = [{ id: 'a.run', base: 'a.run' }];
    api.on(`POST ${BASE}/changes/process`, ({ url }, response) =>
      url.includes('preview')
        ? always(200, { nodes, edges: [], cycles: [], suppressed: [], order: ['a.run'] })(
            api.seen[0] as never,
            response,
          )
        : always(201, plan({ state: 'built' }))(api.seen[0] as never, response),
    );
    const args = ['change', 'process', '--tags', 'zone=a', '--name', 'night', '--force'];
    expect(await run(...args)).toMatchObject({ exit: 0, out: `${ID}\n` });
    expect(await run('change', 'process', '--preview')).toMatchObject({ exit: 0, out: 'a.run\n' });
    expect(seen()).toEqual([
      ['POST', '/changes/process', { tags: 'zone=a', name: 'night', force: true }],
      ['POST', '/changes/process?preview=true', {}],
    ]);
  });

  test('has the exit status of a conflict where nothing is staged', async () => {
    api.on(`POST ${BASE}/changes/process`, (_, response) => problem(response, 'nothing_staged', 'Nothing is staged'));
    expect(await run('change', 'process')).toMatchObject({ exit: 5, err: expect.stringContaining('change stage') });
  });
});

describe('plan run --wait', () => {
  const follow = (state: string, events: object[] = []) => {
    api.on(`GET ${PLAN}`, always(200, plan()));
    api.on(`POST ${PLAN}/run`, always(202, plan()));
    api.on(
      `GET ${PLAN}/report`,
      reporting([node('a.run', 'success'), node('b.run', 'blocked', { blocked_by: ['x.run'] })]),
    );
    api.on(`GET ${PLAN}/events`, ({ url, headers }, response) => {
      if (headers.accept !== 'text/event-stream')
        return always(200, { events: [], cursor: 7, next: null })({} as never, response);
      expect(url).toContain('after=7');
      openStream(response);
      for (const [index, event] of events.entries()) send(response, event, 8 + index, 'node');
      if (state !== '') send(response, { id: ID, state, deleted: false }, undefined, 'end');
      if (state !== '') response.end();
    });
  };
  const failed = { seq: 8, node: 'b.run', from: 'in_progress', status: 'error', message: 'exit status 1' };

  test('follows the plan from where it was, and reports it', async () => {
    follow('succeeded');
    const { exit, out, err } = await run('plan', 'run', ID, '--wait');
    expect(out).toBe('a.run -> SUCCESS\nb.run -> BLOCKED :: by x.run\nTotal Delta: 4\nTotal Time: 3\n');
    expect([exit, err]).toEqual([0, `plan ${ID} is running\nSUCCESS: 2\nplan ${ID} succeeded\n`]);
  });

  test('ends with 1 when the plan failed, was stopped or abandoned', async () => {
    follow('failed', [failed]);
    const first = await run('plan', 'run', ID, '--wait');
    expect([first.exit, first.err]).toEqual([1, expect.stringContaining('b.run -> ERROR :: exit status 1\n')]);
    for (const state of ['stopped', 'abandoned']) {
      follow(state);
      expect((await run('plan', 'run', ID, '--wait')).exit).toBe(1);
    }
  });

  test('stops waiting at the first error, after its time, and by Ctrl-C; the plan goes on', async () => {
    follow('', [failed]);
    const first = await run('plan', 'run', ID, '--wait', '--until-error');
    expect([first.exit, first.err]).toEqual([1, expect.stringContaining('node b.run failed; plan')]);
    follow('');
    const late = await run('plan', 'run', ID, '--wait', '--timeout', '1');
    expect([late.exit, late.err]).toEqual([6, expect.stringContaining('it goes on')]);
    const command = startCli(['plan', 'run', ID, '--wait'], { url: api.url });
    await command.says('SUCCESS: 2');
    command.interrupt();
    expect(await command.ended).toBe(130);
    expect(command.err()).toContain('plan stop');
    expect(api.seen.filter(({ url }) => /abort|stop/.test(url))).toEqual([]);
  });

  test('shows one line on a terminal', async () => {
    follow('succeeded');
    const { err } = await cli(['plan', 'run', ID, '--wait'], { url: api.url, terminal: true });
    expect(err).toContain('\r\u001b[K\u001b[32mSUCCESS\u001b[0m: 2');
  });

  test('says that no worker is at work', async () => {
    follow('');
    api.on('GET /api/v1/status', always(200, { workers: { ok: false, reason: 'none', count: 0 } }));
    let time = 0;
    const now = () => {
      time += 11_000;
      return time;
    };
    const command = startCli(['plan', 'run', ID, '--wait'], { url: api.url, now });
    await command.says('no worker is at work: nothing goes on until a worker is back');
    command.interrupt();
    expect(await command.ended).toBe(130);
  });

  test('needs --wait for what says how to wait', async () => {
    expect((await run('plan', 'run', ID, '--timeout', '3')).exit).toBe(2);
    expect(api.seen).toEqual([]);
  });
});

describe('a plan', () => {
  test.each([
    [['stop', ID], 'POST', '/stop', undefined],
    [['abort', ID], 'POST', '/abort', undefined],
    [['pause', ID], 'POST', '/pause', undefined],
    [['unpause', ID], 'POST', '/unpause', undefined],
    [['resume', ID], 'POST', '/resume', undefined],
    [['abandon', ID], 'POST', '/abandon', undefined],
    [['retry', ID], 'POST', '/retry', undefined],
    [['retry', ID, 'a.run', 'b.run'], 'POST', '/retry', { nodes: ['a.run', 'b.run'] }],
    [['delete', ID], 'DELETE', '', undefined],
  ] as const)('%j makes one request', async (args, method, path, body) => {
    api.on(
      `${method} ${PLAN}${path}`,
      always(method === 'DELETE' ? 204 : 202, method === 'DELETE' ? undefined : plan()),
    );
    expect((await run('plan', ...args)).exit).toBe(0);
    expect(seen()).toEqual([[method, `/plans/${ID}${path}`, body]]);
    const shown = await run('plan', ...args, '--dry-run=request');
    expect([shown.exit, shown.out, api.seen.length]).toEqual([0, expect.stringContaining(`${method} ${api.url}`), 1]);
  });

  test('is listed and shown', async () => {
    api.on(`GET ${BASE}/plans`, always(200, { plans: [plan()], next: null }));
    expect((await run('plan', 'list', '--state', 'running')).out).toContain(`${ID}  night  running  100 %`);
    expect(api.seen[0]?.url).toContain('state=running');
    const cycles = [{ members: ['a.run'], head: 'a.run', repeated: ['a.run'], closed_by: [['a.run', 'a.run']] }];
    api.on(`GET ${PLAN}`, always(200, plan({ wish: 'stop', cycles, follow_up: ['x'] })));
    const { out } = await run('plan', 'get', ID);
    expect(out).toMatch(/State +running, to stop\nNodes +SUCCESS: 2 \(100 %\)/);
    expect(out).toMatch(/Loop +a.run goes first, run twice: a.run\n[\s\S]*Follow up +x\n/);
  });

  test('has nodes, a report, a graph, and says why', async () => {
    const shown = { ...node('a/b.run', 'pending'), id: 'a/b.run', origin: 'staged', target: 'localhost', weight: 0 };
    api.on(`GET ${PLAN}/nodes`, always(200, { nodes: [{ ...shown, reason: 'waits' }], next: null }));
    expect((await run('plan', 'nodes', ID)).out).toMatch(/a\/b\.run +staged +pending +0 +localhost +waits\n/);
    api.on(`GET ${PLAN}/report`, reporting([node('a.run', 'noop', { reason: 'not-triggered' })]));
    expect((await run('plan', 'report', ID)).out).toContain('a.run -> NOOP :: not-triggered\n');
    api.on(`GET ${PLAN}/graph`, ({ headers, url }, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.end(`${headers.accept} ${url.split('?')[1]}\n`);
    });
    expect((await run('plan', 'graph', ID, '--dot')).out).toContain('text/vnd.graphviz');
    expect((await run('plan', 'graph', ID, '--around', 'a.run')).out).toContain('text/plain around=a.run');
    expect((await run('plan', 'graph', ID, '--depth', '2')).exit).toBe(2);
    const decision = { status: 'noop', reason: 'not-triggered', triggered_by: [], blocked_by: [] };
    const explanation = { node: 'a/b.run', origin: 'staged', chain: [], incoming: [], decision };
    api.on(`GET ${PLAN}/nodes/a%2Fb.run/explain`, always(200, explanation));
    expect((await run('plan', 'explain', ID, 'a/b.run')).out).toContain('Decision: noop, not-triggered\n');
  });

  test('shows what an attempt has written, and frees what it held', async () => {
    const attempts = [1, 2].map((number) => ({ id: `attempt-${number}`, number }));
    api.on(`GET ${PLAN}/nodes/a.run/attempts`, always(200, { attempts, next: null }));
    for (const { id } of attempts) {
      api.on(`GET ${BASE}/attempts/${id}/logs`, (_, response) => {
        response.writeHead(200, { 'content-type': 'text/plain' });
        response.end(`log of ${id}\n`);
      });
    }
    expect((await run('plan', 'logs', ID, 'a.run')).out).toBe('log of attempt-2\n');
    expect((await run('plan', 'logs', ID, 'a.run', '--attempt', '1')).out).toBe('log of attempt-1\n');
    expect(await run('plan', 'logs', ID, 'a.run', '--attempt', '3')).toMatchObject({
      exit: 3,
      err: expect.stringContaining('attempt_not_found'),
    });
    api.on(`POST ${BASE}/attempts/attempt-1/release`, always(202, attempts[0]));
    expect((await run('plan', 'release', 'attempt-1')).err).toBe('what attempt attempt-1 held is free\n');
  });

  test('tells its transitions, page by page or live', async () => {
    const event = (seq: number) => ({
      ...{ seq, time: 't', type: 'node', node: `n${seq}.run`, from: 'pending', status: 'success', outcome: 'ok' },
      ...{ reason: null, message: null, code: null, attempts: 1 },
    });
    api.on(`GET ${PLAN}/events`, ({ url, headers }, response) => {
      if (headers.accept === 'text/event-stream') {
        openStream(response);
        send(response, event(1), 1, 'node');
        send(response, { id: ID, state: 'succeeded', deleted: false }, undefined, 'end');
        return void response.end();
      }
      const next = url.includes('after=0') ? { after: 1 } : null;
      always(200, { events: [event(next ? 1 : 2)], cursor: 1, next })({} as never, response);
    });
    expect((await run('plan', 'events', ID, '-o', 'name')).out).toBe('n1.run\nn2.run\n');
    expect(await run('plan', 'events', ID, '-f')).toMatchObject({
      out: 't n1.run -> SUCCESS :: ok\n',
      err: 'the plan has succeeded\n',
    });
  });
});

describe('plan simulate', () => {
  const simulated = {
    order: ['a.run', 'b.run'],
    waves: [['a.run']],
    run: { statuses: { 'a.run': 'error', 'b.run': 'blocked' }, outcomes: { 'a.run': 'failed' }, result: 'failed' },
  };
  const whole = { ...simulated, run: { ...simulated.run, recovered: [], unsettled: [] } };

  test('asks the server for what is staged, or for a stored plan', async () => {
    api.on(`POST ${BASE}/changes/simulate`, always(200, whole));
    api.on(`POST ${PLAN}/simulate`, always(200, whole));
    const staged = await run('plan', 'simulate', '--staged', '--tags', 'k=v', '--outcome', 'a.run=failed');
    expect(staged).toMatchObject({
      exit: 0,
      out: 'a.run -> ERROR :: failed\nb.run -> BLOCKED\n\nRounds:\n  1: a.run\n\nResult: failed (ERROR: 1 BLOCKED: 1)\n',
    });
    await run('plan', 'simulate', ID, '--outcome', 'a.run=failed,ok', 'b.run=ok');
    expect(seen()).toEqual([
      ['POST', '/changes/simulate', { tags: 'k=v', outcomes: { 'a.run': 'failed' } }],
      ['POST', `/plans/${ID}/simulate`, { outcomes: { 'a.run': ['failed', 'ok'], 'b.run': 'ok' } }],
    ]);
  });

  test.each([
    [[]],
    [['file.yaml', '--staged']],
    [['file.yaml', '--outcome', 'a.run=ok']],
    [[ID, '--graph', 'dot']],
    [['--staged', '--outcome', 'odd']],
  ])('refuses %j', async (args) => {
    expect((await run('plan', 'simulate', ...args)).exit).toBe(2);
    expect(api.seen).toEqual([]);
  });
});
