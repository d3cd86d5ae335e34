/** The vectors of decisions and status, one reconcile after the other. */
import { describe, expect, test } from '@jest/globals';
import type { CustomResource } from '../../../domain/operator/custom-resource.ts';
import { load } from '../watches/entries.ts';
import { failed, type Run, reconcile, requeue, S0, SF, shown, stats, T2 } from './reconcile.ts';

const F = 'demo.io/finalizer';
const entryOf = (members = '') => {
  const text = `- {group: demo.io, version: v1, kind: Widget, playbook: pb.yml, ${members}}`;
  const [entry] = load(text).entries;
  if (entry === undefined) throw new Error(`no entry in ${text}`);
  return entry;
};
const ENTRY = entryOf();
const WITH_F = entryOf(`finalizer: {name: ${F}, role: myrole}`);
const UNMANAGED = entryOf('manageStatus: false');

const widget = (
  metadata: Partial<CustomResource['metadata']> = {},
  over: Partial<CustomResource> = {},
): CustomResource => ({
  apiVersion: 'demo.io/v1',
  kind: 'Widget',
  metadata: { name: 'w1', namespace: 'ns1', uid: 'u1', generation: 1, ...metadata },
  spec: {},
  ...over,
});
const deleted = (resource: CustomResource | null): CustomResource => {
  if (resource === null) throw new Error('it is gone already');
  return { ...resource, metadata: { ...resource.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
};
const afterRun = (run: Run, entry = ENTRY) => reconcile(widget(), entry, run).resource;

const AWAIT = 'Awaiting next reconciliation';
const LAST = 'Last reconciliation succeeded';
const RUN = 'Running reconciliation';
const OK_T1 = [`R True/Successful/${AWAIT} @T1 +{5,2,1,0}`, `S True/Successful/${LAST} @T1`, 'X False// @T1'];
const failedT1 = (message: string) => [
  `R False/Running/${RUN} @T1`,
  `X True/Failed/${message} @T1 +{3,0,0,1}`,
  'S False// @T1',
];
const TEN_HOURS = { when: 'after', seconds: 36_000, reason: 'period' };
const ERROR = { when: 'back_off' };

const good: Run = { events: [S0] };
const bad = (...messages: string[]): Run => ({
  events: [...messages.map((message) => failed(message)), SF],
  exitCode: 2,
});

describe('one reconcile of a new resource', () => {
  test.each<[string, Run, object, string[]]>([
    ['V1', good, TEN_HOURS, OK_T1],
    ['V4', bad('one'), ERROR, failedT1('one')],
    ['V7', bad('a', 'b'), ERROR, failedT1('a\nb')],
    ['V8', { events: [failed(), SF], exitCode: 2 }, ERROR, failedT1('unknown playbook failure')],
    ['V9', { events: [failed('x', { ignore_errors: true }), S0] }, TEN_HOURS, OK_T1],
    [
      'V10',
      { events: [failed('x'), stats({ ok: { localhost: 1 }, rescued: { localhost: 1 } })] },
      TEN_HOURS,
      [`R True/Successful/${AWAIT} @T1 +{1,0,0,0}`, ...OK_T1.slice(1)],
    ],
    [
      'V11',
      {
        events: [
          { event: 'runner_on_unreachable', event_data: { host: 'web1', res: { msg: 'no route' } } },
          stats({ dark: { web1: 1 } }),
        ],
        exitCode: 4,
      },
      ERROR,
      [`R False/Running/${RUN} @T1`, 'X True/Failed/web1: no route @T1 +{0,0,0,0}', 'S False// @T1'],
    ],
    [
      'V12',
      { events: [stats({ ok: { web1: 4 }, changed: { web1: 4 } })] },
      TEN_HOURS,
      [`R True/Successful/${AWAIT} @T1 +{4,4,0,0}`, ...OK_T1.slice(1)],
    ],
    [
      'V13',
      { exitCode: 4, lastLines: ['', '\u001b[0;31mERROR! syntax\u001b[0m', ''] },
      ERROR,
      [`R False/Running/${RUN} @T1`, 'X True/Failed/ERROR! syntax @T1'],
    ],
    [
      'V14',
      { exitCode: 1, lastLines: null },
      ERROR,
      [`R False/Running/${RUN} @T1`, 'X True/Failed/Failed to get ansible-runner stdout @T1'],
    ],
    ['V15', { unable: true }, ERROR, [`R False/Running/${RUN} @T1`, 'X True/Failed/Unable to run reconciliation @T1']],
    ['V33', { events: [requeue('30s'), failed('one'), SF], exitCode: 2 }, ERROR, failedT1('one')],
    ['V34', { events: [requeue('30s'), S0] }, { when: 'after', seconds: 30, reason: 'requeue' }, OK_T1],
    ['requeue 0s', { events: [requeue('0s'), S0] }, { when: 'event' }, OK_T1],
    [
      'V35',
      { events: [requeue('30'), S0] },
      ERROR,
      [
        `R False/Running/${RUN} @T1`,
        'X True/Failed/time: missing unit in duration "30" @T1 +{5,2,1,0}',
        'S False// @T1',
      ],
    ],
  ])('%s', (_, run, next, conditions) => {
    const ended = reconcile(widget(), ENTRY, run);
    expect(ended.next).toEqual(next);
    expect(shown(ended.resource)).toEqual(conditions);
  });

  test('V16, V17: a period annotation that is none', () => {
    const annotated = (period: string) =>
      widget({ annotations: { 'ansible.sdk.operatorframework.io/reconcile-period': period } });
    const ended = reconcile(annotated('3x'), ENTRY, good);
    expect([ended.outcome, ended.next]).toEqual(['failed', ERROR]);
    expect(shown(ended.resource)).toEqual([
      'X True/Failed/Unable to parse reconcile period annotation: time: unknown unit "x" in duration "3x" @T1',
    ]);
    const unmanaged = reconcile(annotated('3'), UNMANAGED, good);
    expect([unmanaged.outcome, unmanaged.resource?.status]).toEqual(['failed', undefined]);
    // V18, V19
    expect(reconcile(annotated('90s'), ENTRY, good).next).toEqual({ when: 'after', seconds: 90, reason: 'period' });
    expect(reconcile(annotated('0s'), ENTRY, good).next).toEqual({ when: 'event' });
  });

  test('V20, V21: an entry that manages no status', () => {
    expect(reconcile(widget(), UNMANAGED, good)).toMatchObject({ next: TEN_HOURS, resource: widget() });
    expect(reconcile(widget(), UNMANAGED, bad('x'))).toMatchObject({ next: ERROR, resource: widget() });
  });

  test('V36: what the playbook writes into the status stays, and comes first', () => {
    const available = { type: 'Available', status: 'True', reason: 'Up', message: '', lastTransitionTime: 'x' };
    const ended = reconcile(widget(), ENTRY, {
      ...good,
      meanwhile: (resource) => {
        const status = resource.status as { conditions: object[] };
        return { ...resource, status: { ...status, url: 'http://x', conditions: [available, ...status.conditions] } };
      },
    });
    expect(ended.resource?.status).toMatchObject({ url: 'http://x' });
    expect(shown(ended.resource)).toEqual([JSON.stringify(available), ...OK_T1]);
  });

  test('V37: foreign conditions are written back as they are, what is no condition is dropped', () => {
    const ready = { type: 'Ready', status: 'Unknown', extra: 1 };
    const ended = reconcile(widget({}, { status: { phase: 'x', conditions: ['junk', ready] } }), ENTRY, good);
    expect(ended.resource?.status).toMatchObject({ phase: 'x' });
    expect(shown(ended.resource)).toEqual([JSON.stringify(ready), ...OK_T1]);
  });

  test('V38, V39: no spec, no resource', () => {
    const { spec: _spec, ...bare } = widget();
    const ended = reconcile(bare, ENTRY, good);
    expect(shown(ended.resource)).toEqual(OK_T1);
    expect(ended.resource).not.toHaveProperty('spec');
    expect(reconcile(null, ENTRY, good)).toEqual({ resource: null, finalizerRun: false, outcome: 'gone', next: null });
  });
});

describe('a second reconcile', () => {
  test.each<[string, Run, Run, object, string[]]>([
    [
      'V2',
      good,
      { events: [stats({ ok: { localhost: 5 } })] },
      TEN_HOURS,
      [`R True/Successful/${AWAIT} @T1 +{5,0,0,0}`, `S True/Successful/${LAST} @T2`, 'X False// @T1'],
    ],
    [
      'V3',
      good,
      bad('boom'),
      ERROR,
      [`R False/Running/${RUN} @T1`, 'X True/Failed/boom @T2 +{3,0,0,1}', 'S False// @T1'],
    ],
    [
      'V5',
      bad('one'),
      bad('two'),
      ERROR,
      ['S False// @T1', `R False/Running/${RUN} @T2`, 'X True/Failed/two @T1 +{3,0,0,1}'],
    ],
    [
      'V6',
      bad('one'),
      good,
      TEN_HOURS,
      [`R True/Successful/${AWAIT} @T2 +{5,2,1,0}`, `S True/Successful/${LAST} @T2`, 'X False// @T2'],
    ],
    [
      'could not run, after a success',
      good,
      { unable: true },
      ERROR,
      [
        `S False/Successful/${LAST} @T1`,
        `R False/Running/${RUN} @T1`,
        'X True/Failed/Unable to run reconciliation @T2',
      ],
    ],
  ])('%s', (_, first, second, next, conditions) => {
    const ended = reconcile(afterRun(first), ENTRY, second, T2);
    expect(ended.next).toEqual(next);
    expect(shown(ended.resource)).toEqual(conditions);
  });
});

describe('deletion', () => {
  test('V22, V23: the finalizer comes before the first run and goes after its own', () => {
    const first = reconcile(widget(), WITH_F, good);
    expect(first.resource?.metadata.finalizers).toEqual([F]);
    expect(shown(first.resource)).toEqual(OK_T1);
    const last = reconcile(deleted(first.resource), WITH_F, good, T2);
    expect(last).toMatchObject({ resource: null, finalizerRun: true, outcome: 'ok', next: TEN_HOURS });
  });

  test('V24, V25: a finalizer whose run fails stays, and the next one ends it', () => {
    const failing = reconcile(deleted(afterRun(good, WITH_F)), WITH_F, bad('cleanup'), T2);
    expect(failing).toMatchObject({ finalizerRun: true, next: ERROR, resource: { metadata: { finalizers: [F] } } });
    expect(shown(failing.resource)).toEqual([
      `R False/Running/${RUN} @T1`,
      'X True/Failed/cleanup @T2 +{3,0,0,1}',
      'S False// @T1',
    ]);
    expect(reconcile(failing.resource, WITH_F, good, T2).resource).toBeNull();
  });

  test('a failure that the finalizer rescues ends it', () => {
    const rescued = { events: [failed('x'), stats({ ok: { localhost: 1 }, rescued: { localhost: 1 } })] };
    expect(reconcile(deleted(afterRun(good, WITH_F)), WITH_F, rescued).resource).toBeNull();
  });

  test.each([
    ['V26', ENTRY],
    ['V27', WITH_F],
  ])('%s: what goes and has no finalizer of ours is left alone', (_, entry) => {
    const going = deleted(widget({ finalizers: ['other/f'] }));
    expect(reconcile(going, entry, good)).toEqual({
      resource: going,
      finalizerRun: false,
      outcome: 'refused',
      next: null,
    });
  });

  test('V28: finalizers of others stay', () => {
    const ended = reconcile(deleted(widget({ finalizers: [F, 'other/f'] })), WITH_F, good);
    expect([ended.finalizerRun, ended.next]).toEqual([true, TEN_HOURS]);
    expect(ended.resource?.metadata.finalizers).toEqual(['other/f']);
    expect(shown(ended.resource)).toEqual(OK_T1);
  });

  test('V29, V30: deleted during a run: the finalizer runs at once', () => {
    const ended = reconcile(widget({ finalizers: [F] }), WITH_F, { ...good, meanwhile: deleted });
    expect(ended).toMatchObject({ finalizerRun: false, outcome: 'ok', next: { when: 'now' } });
    expect(ended.resource?.metadata.finalizers).toEqual([F]);
    expect(shown(ended.resource)).toEqual(OK_T1);
    expect(reconcile(ended.resource, WITH_F, good, T2)).toMatchObject({ finalizerRun: true, resource: null });
  });

  test('V31: the same, and the run fails', () => {
    const ended = reconcile(widget({ finalizers: [F] }), WITH_F, { ...bad('x'), meanwhile: deleted });
    expect(ended.next).toEqual(ERROR);
    expect(ended.resource?.metadata.finalizers).toEqual([F]);
    expect(shown(ended.resource)).toEqual(failedT1('x'));
  });

  test('V32, and an object that was made again: nothing is written', () => {
    const gone = reconcile(widget({ finalizers: [F] }), WITH_F, { ...good, meanwhile: () => null });
    expect(gone).toMatchObject({ resource: null, outcome: 'gone', next: { when: 'event' } });
    const other = widget({ uid: 'u2' });
    const again = reconcile(widget(), ENTRY, { ...bad('x'), meanwhile: () => other });
    expect(again).toEqual({ resource: other, finalizerRun: false, outcome: 'gone', next: { when: 'event' } });
  });

  test('a finalizer of variables alone runs the script of the entry', () => {
    const entry = entryOf(`finalizer: {name: ${F}, vars: {state: absent}}`);
    const ended = reconcile(deleted(widget({ finalizers: [F] })), entry, good);
    expect(ended).toMatchObject({ finalizerRun: true, resource: null });
  });
});

test('the result of a run is written with all counters and its time', () => {
  const { status } = afterRun(good) as { status: { conditions: { ansibleResult?: object }[] } };
  expect(status.conditions[0]?.ansibleResult).toEqual({
    ok: 5,
    changed: 2,
    skipped: 1,
    failures: 0,
    unreachable: 0,
    rescued: 0,
    ignored: 0,
    completion: '2026-01-02T03:04:05.6789+00:00',
  });
});
