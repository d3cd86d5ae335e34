/** What the pages of sessions make of URLs and records. */
import { describe, expect, test } from '@jest/globals';
import { SessionCreateSchema } from '../../domain/sessions/schema.ts';
import { actingRefusal } from '../../web/src/access/may.ts';
import { eventMessage, eventName, eventPlace } from '../../web/src/sessions/event-text.ts';
import { type Ran, RERUN_FIELDS, rerunBody, rerunCommand, rerunValues } from '../../web/src/sessions/rerun-draft.ts';
import { readListSearch, readSessionSearch } from '../../web/src/sessions/search.ts';
import { lastedText, slowestHosts, stepSpans, taskSpans } from '../../web/src/sessions/session-times.ts';
import { stepsOf } from '../../web/src/sessions/steps.ts';
import { onlyKnown } from '../../web/src/shared/search-values.ts';

const ID = '11111111-2222-4333-8444-555555555555';

describe('the URL of the list', () => {
  test.each<[Record<string, unknown>, object]>([
    [{}, {}],
    [
      { status: 'running', name_contains: 'night' },
      { status: 'running', name_contains: 'night' },
    ],
    [{ status: 'walking' }, { dropped: ['status'] }],
    [
      { name_contains: 5, after_id: 17 },
      { name_contains: '5', after_id: '17' },
    ],
    [{ name_contains: { a: 1 }, after_id: 'x' }, { dropped: ['name_contains', 'after_id'] }],
    [{ other: 1 }, {}],
  ])('%j says %j', (given, read) => expect(readListSearch(given)).toEqual(read));
});

describe('the router, which adds what a page reads to all that stands in the URL,', () => {
  /** As the router does it. */
  const seenOf = (url: Record<string, unknown>) => ({ ...url, ...onlyKnown(readListSearch)(url) });
  test.each<[Record<string, unknown>, object]>([
    [
      { status: 'walking', other: 1, name_contains: 'night' },
      { name_contains: 'night', dropped: ['status'] },
    ],
    [{ dropped: ['status'], other: 1 }, { dropped: ['status'] }],
    [{ dropped: 5 }, {}],
    [{ dropped: [{}] }, {}],
    [{ dropped: ['status'], after_id: 'x' }, { dropped: ['after_id'] }],
  ])('makes of %j no more than %j', (url, seen) => expect(seenOf(url)).toEqual(seen));
});

describe('the URL of a session', () => {
  test.each<[Record<string, unknown>, object]>([
    [
      { id: ID, tab: 'log' },
      { id: ID, tab: 'log' },
    ],
    [{ id: 'x', tab: 'y' }, { dropped: ['id', 'tab'] }],
    [{ id: [ID] }, { dropped: ['id'] }],
    [
      { layer: 0, attempt: '2', q: 12 },
      { layer: 0, attempt: 2, q: '12' },
    ],
    [{ layer: -1, attempt: 0, q: ['a'] }, { dropped: ['layer', 'attempt', 'q'] }],
    [{ layer: 1.5, attempt: 'x' }, { dropped: ['layer', 'attempt'] }],
    [
      { tab: 'events', host: 'n1', result: 'failed', after_id: 40 },
      { tab: 'events', host: 'n1', result: 'failed', after_id: '40' },
    ],
    [
      { tab: 'timeline', result: 'bad', after_id: '-1' },
      { tab: 'timeline', dropped: ['result', 'after_id'] },
    ],
  ])('%j says %j', (given, read) => expect(readSessionSearch(given)).toEqual(read));
});

describe('the steps of a session', () => {
  const at = (minute: number) => `2026-11-21T10:${String(minute).padStart(2, '0')}:00.000Z`;
  const session = (more: object = {}, status: 'pending' | 'running' | 'complete' = 'running', message = 'why') => ({
    status: { session: { status, message } },
    phase: 'queued',
    created_at: at(0),
    admitted_at: null,
    updated_at: at(5),
    ended_at: null,
    attempts: [],
    images: [],
    snapshot: {
      layers: [
        { index: 0, playbook: 'a.yml' },
        { index: 1, playbook: 'b.yml' },
      ],
    },
    ...more,
  });
  const run = (layer: number, more: object = {}) => ({
    ...{ run_id: 'r', layer, attempt: 1, state: 'running' as const, exit_code: null, error: null },
    ...{ created_at: at(2), started_at: at(3), ended_at: null },
    ...more,
  });
  const told = (given: Parameters<typeof stepsOf>[0]) =>
    stepsOf(given).map(({ name, state, reason }) => `${name}: ${state}${reason === '' ? '' : `, ${reason}`}`);

  test('that waits', () => {
    expect(told(session({}, 'pending'))).toEqual([
      'admission: now, why',
      'clone: to come',
      'inventory: to come',
      'layer 1/2 a.yml: to come',
      'layer 2/2 b.yml: to come',
      'teardown: to come',
    ]);
  });

  test('that runs its second layer', () => {
    const attempts = [run(0, { exit_code: 0, ended_at: at(4), state: 'ended' }), run(1)];
    expect(told(session({ phase: 'layer', admitted_at: at(1), attempts }))).toEqual([
      'admission: done',
      'clone: done',
      'inventory: done',
      'layer 1/2 a.yml: done',
      'layer 2/2 b.yml: now, why',
      'teardown: to come',
    ]);
  });

  test('that failed in its first', () => {
    const attempts = [run(0, { exit_code: 2, ended_at: at(4), state: 'ended' })];
    const steps = told(session({ phase: 'done', ended_at: at(6), attempts }, 'complete'));
    expect(steps.slice(3)).toEqual([
      'layer 1/2 a.yml: failed, exit status 2',
      'layer 2/2 b.yml: to come, it did not run',
      'teardown: done',
    ]);
  });

  test('that is held, waits for leases, or works on images', () => {
    expect(told(session({ phase: 'hold' }))).toContain('hold: now, why');
    expect(told(session({ phase: 'lease' }))).toContain('leases: now, why');
    expect(told(session({ phase: 'images' }))).toContain('images: now, why');
    expect(told(session({ phase: 'clone' })).join()).not.toMatch(/hold|leases|images/);
  });

  test('says when', () => {
    const attempts = [run(0, { exit_code: 0, ended_at: at(4), state: 'ended' })];
    const steps = stepsOf(session({ phase: 'done', admitted_at: at(1), ended_at: at(6), attempts }, 'complete'));
    expect(steps.map((step) => step.at)).toEqual([at(1), null, null, at(4), null, at(6)]);
  });
});

describe('an event', () => {
  const event = (more: object) => ({
    seq: 1,
    time: '',
    type: 'host_result',
    layer: 0,
    attempt: 1,
    host: 'n1',
    ...more,
  });
  test.each([
    [{ task: 'Install', item: 'nginx' }, 'Install (item nginx)'],
    [{ type: 'task_start', task: 'Install' }, 'task Install'],
    [{ type: 'play_start', play: 'all' }, 'play all'],
    [{ type: 'cold_start' }, 'cold start'],
    [{ task: 7 }, ''],
  ])('%j is %j', (more, name) => expect(eventName(event(more))).toBe(name));
  test.each([
    [{ message: 'no space', stdout: 'x' }, 'no space'],
    [{ stderr: 'bad', stdout: 'x' }, 'bad'],
    [{ message: 'secret', censored: true }, 'hidden by no_log'],
    [{ message: 'x'.repeat(400) }, `${'x'.repeat(300)}…`],
    [{}, ''],
  ])('%j says %j', (more, message) => expect(eventMessage(event(more))).toBe(message));
  test('is of a layer, as people count', () => {
    expect([eventPlace(event({})), eventPlace(event({ attempt: 2 })), eventPlace(event({ layer: null }))]).toEqual([
      ...['1', '1, attempt 2', ''],
    ]);
  });
});

describe('the times of a session', () => {
  const at = (second: number) => new Date(second * 1_000).toISOString();
  const run = (layer: number, from: number, until: number | null, attempt = 1) => ({
    ...{ run_id: `r${layer}-${attempt}`, layer, attempt, state: 'ended' as const, exit_code: 0, error: null },
    ...{ created_at: at(from - 1), started_at: at(from), ended_at: until === null ? null : at(until) },
  });
  const snapshot = { layers: [{ index: 0, playbook: 'a.yml' }] };
  const told = (session: Parameters<typeof stepSpans>[0], now: number) =>
    stepSpans(session, now * 1_000).map(
      ({ name, from, until, isOpen }) => `${name} ${from / 1_000}-${until / 1_000}${isOpen ? ' open' : ''}`,
    );

  test('of one that has ended', () => {
    const attempts = [run(0, 8, 9, 2), run(0, 4, 7)];
    const session = { created_at: at(1), admitted_at: at(2), ended_at: at(12), attempts, snapshot };
    expect(told(session, 99)).toEqual([
      ...['waiting 1-2', 'preparation 2-4', 'layer 1/1 a.yml 4-7', 'layer 1/1 a.yml, attempt 2 8-9', 'end 9-12'],
    ]);
  });
  test('of one that goes on, and of one that waits', () => {
    const session = { created_at: at(1), admitted_at: at(2), ended_at: null, attempts: [run(0, 4, null)], snapshot };
    expect(told(session, 9)).toEqual(['waiting 1-2', 'preparation 2-4', 'layer 1/1 a.yml 4-9 open']);
    expect(told({ ...session, admitted_at: null, attempts: [] }, 9)).toEqual(['waiting 1-9 open']);
  });
  test('of its tasks: each until the next one of its run', () => {
    const start = (seq: number, second: number, layer: number) => ({
      ...{ seq, time: at(second), type: 'task_start', layer, attempt: 1, host: null, task: `t${seq}` },
    });
    const spans = taskSpans([start(1, 4, 0), start(2, 6, 0), start(3, 8, 1)], [run(0, 4, 7)], 10_000);
    expect(spans.map(({ name, until, isOpen }) => [name, until / 1_000, isOpen])).toEqual([
      ['t1', 6, false],
      ['t2', 7, false],
      ['t3', 10, true],
    ]);
  });
  test('of its hosts: the slowest first', () => {
    const result = (host: string | null, duration: unknown) => ({
      ...{ seq: 1, time: '', type: 'host_result', layer: 0, attempt: 1, host, duration },
    });
    const results = [result('a', 1), result('b', 2.5), result('a', 1), result(null, 9), result('c', 'x')];
    expect(slowestHosts(results, 5)).toEqual([
      { host: 'b', seconds: 2.5, tasks: 1 },
      { host: 'a', seconds: 2, tasks: 2 },
    ]);
    expect(slowestHosts(results, 1)).toHaveLength(1);
  });
  test.each([
    [40, '0.0 s'],
    [59_949, '59.9 s'],
    [61_400, '1 min 1 s'],
    [7_260_000, '2 h 1 min'],
  ])('%d ms is %j', (ms, text) => expect(lastedText(ms)).toBe(text));
});

describe('acting', () => {
  test.each([
    [undefined, 'live', 'Muster does not say yet who you are'],
    [{ role: 'reader' }, 'live', 'Your role reader may not do this: it needs operator'],
    [{ role: 'operator' }, 'live', null],
    [{ role: 'admin' }, 'reconnecting', null],
    [{ role: 'admin' }, 'stale', 'What you see is old: wait until the page is live again'],
  ] as const)('as %j on a page that is %s: %j', (me, state, refusal) => {
    expect(actingRefusal(me, state)).toBe(refusal);
  });
});

describe('a session that runs again', () => {
  const plain: Ran = {
    configuration: { name: 'web', limit: '' },
    ansible: { config: '', limit: null, verbosity: 0, passthrough: null },
    target: { definition: 'dynamic', groups: null, image_map: null },
    tags: {},
    debug_on_failure: false,
  };
  const full: Ran = {
    configuration: { name: 'web', limit: '0,2' },
    ansible: { config: 'own', limit: 'n1,n2', verbosity: 2, passthrough: '-e a=b' },
    target: { definition: 'spec', groups: [{ name: 'all', members: ['n1'] }], image_map: null },
    tags: { by: 'me', 'muster.retry-of': 'first', 'muster.batch': 'b' },
    debug_on_failure: true,
    muster: { check: true, reconfigure: true, runner: 'local' },
  };
  const whole = {
    ...{ name: 'next', configuration_name: 'web', configuration_limit: '0,2', ansible_limit: 'n1,n2' },
    ...{ ansible_config: 'own', ansible_verbosity: 2, ansible_passthrough: '-e a=b' },
    target: { definition: 'spec', groups: [{ name: 'all', members: ['n1'] }] },
    ...{ tags: { by: 'me' }, debug_on_failure: true },
    muster: { check: true, reconfigure: true, runner: 'local' },
  };

  test('is filled with what the first one ran with', () => {
    expect(rerunBody(full, rerunValues(full, 'next'))).toEqual(whole);
    expect(rerunBody(plain, rerunValues(plain, 'next'))).toEqual({
      ...{ name: 'next', configuration_name: 'web', ansible_verbosity: 0, target: { definition: 'dynamic' } },
    });
    expect(SessionCreateSchema.parse(whole)).toEqual(whole);
  });

  test('has what was typed instead, and is none without a name', () => {
    const values = { ...rerunValues(full, 'next'), ansible_limit: ' n3 ', check: '' };
    expect(rerunBody(full, values)).toEqual({ ...whole, ansible_limit: 'n3', muster: { runner: 'local' } });
    expect(rerunBody(full, { ...values, name: ' ' })).toBeNull();
    expect(rerunBody(full, { ...values, configuration_name: '' })).toBeNull();
    expect(RERUN_FIELDS.map(({ name }) => name).toSorted()).toEqual(Object.keys(values).toSorted());
  });

  test('is a command that takes its body from stdin', () => {
    expect(rerunCommand(plain, rerunValues(plain, 'next'))).toBe(
      `printf %s '${JSON.stringify({ name: 'next', configuration_name: 'web', ansible_verbosity: 0, target: { definition: 'dynamic' } })}' | ./muster api POST /v3/sessions -d -`,
    );
  });
});
