/** The vectors of loading, and the mistakes of a file in their order. */
import { describe, expect, test } from '@jest/globals';
import { codes, HOME, load, type Surroundings } from './entries.ts';

const A = 'group: demo.io, version: v1, kind: A';
const one = (members: string, surroundings?: Surroundings) => load(`- {${members}}`, surroundings);

describe('an entry without a mistake', () => {
  test('L1: has the defaults', () => {
    const { entries, errors, warnings } = one(`${A}, playbook: pb.yml`);
    expect([errors, warnings]).toEqual([[], []]);
    expect(entries).toEqual([
      {
        group: 'demo.io',
        version: 'v1',
        kind: 'A',
        playbook: `${HOME}/pb.yml`,
        role: null,
        vars: {},
        max_runner_artifacts: 20,
        reconcile_period_seconds: null,
        manage_status: true,
        watch_dependent_resources: true,
        watch_cluster_scoped_resources: false,
        watch_annotations_changes: false,
        snake_case_parameters: true,
        mark_unsafe: true,
        blacklist: [],
        finalizer: null,
        selector: null,
        max_concurrent_reconciles: 4,
        verbosity: 2,
        muster: {
          run_timeout: null,
          backoff: { initial: '1s', factor: 2, max: '1000s' },
          on_delete: 'finish',
          resync_on_start: 'stale',
          observed_generation: false,
        },
      },
    ]);
  });

  test.each([
    [
      'L2',
      'Group: demo.io, VERSION: v1, kind: A, Playbook: pb.yml, managestatus: false, MAXRUNNERARTIFACTS: 3',
      { group: 'demo.io', version: 'v1', playbook: `${HOME}/pb.yml`, manage_status: false, max_runner_artifacts: 3 },
    ],
    ['L3', 'version: v1, kind: A, role: myrole', { group: '', role: `${HOME}/roles/myrole`, playbook: null }],
    ['L6', `${A}, role: nope, playbook: pb.yml`, { playbook: `${HOME}/pb.yml`, role: null }],
    ['L12', `${A}, playbook: pb.yml, reconcilePeriod: -5s`, { reconcile_period_seconds: -5 }],
    ['L14', `${A}, playbook: pb.yml, maxRunnerArtifacts: 0`, { max_runner_artifacts: 20 }],
    ['0s is unset', `${A}, playbook: pb.yml, reconcilePeriod: 0s`, { reconcile_period_seconds: null }],
    ['a fraction of hours', `${A}, playbook: pb.yml, reconcilePeriod: 1.5h`, { reconcile_period_seconds: 5_400 }],
    ['a negative number of artifacts', `${A}, playbook: pb.yml, maxRunnerArtifacts: -1`, { max_runner_artifacts: -1 }],
    [
      'booleans of YAML 1.1',
      `${A}, playbook: pb.yml, markUnsafe: on, manageStatus: no`,
      { mark_unsafe: true, manage_status: false },
    ],
    [
      'a null is a key that is not there',
      `${A}, playbook: pb.yml, manageStatus: null, vars: ~`,
      { manage_status: true, vars: {} },
    ],
    [
      'text that Go keeps as text',
      `${A}, playbook: pb.yml, vars: {port: 22:22, day: 2001-12-14, octal: 010, Key: {aB: 1}}`,
      { vars: { port: '22:22', day: '2001-12-14', octal: 8, Key: { aB: 1 } } },
    ],
    [
      'values of labels as text',
      `${A}, playbook: pb.yml, selector: {MatchLabels: {a: 1, B: true}, matchexpressions: [{key: k, operator: In, values: [2]}]}`,
      {
        selector: {
          matchLabels: { a: '1', B: 'true' },
          matchExpressions: [{ key: 'k', operator: 'In', values: ['2'] }],
        },
      },
    ],
    [
      'a finalizer of variables alone',
      `${A}, playbook: pb.yml, finalizer: {name: f/x, vars: {x: 1}}`,
      { finalizer: { name: 'f/x', playbook: null, role: null, vars: { x: 1 } } },
    ],
    [
      'a blacklist',
      `${A}, playbook: pb.yml, blacklist: [{version: v1, Kind: Pod}]`,
      { blacklist: [{ group: '', version: 'v1', kind: 'Pod' }] },
    ],
  ])('%s', (_, members, expected) => {
    const { entries, errors } = one(members);
    expect(errors).toEqual([]);
    expect(entries).toMatchObject([expected]);
  });

  test('L16: the keys of Muster', () => {
    const { entries, errors } = one(`${A}, playbook: pb.yml, muster: {run_timeout: 10m, backoff: {initial: 2s}}`);
    expect(errors).toEqual([]);
    expect(entries[0]?.muster).toMatchObject({
      run_timeout: '10m',
      backoff: { initial: '2s', factor: 2, max: '1000s' },
    });
  });

  test('two entries that differ in version alone, or in group', () => {
    const text = ['demo.io, version: v1', 'demo.io, version: v2', 'demo.com, version: v1'].map(
      (gvk) => `- {group: ${gvk}, kind: A, playbook: pb.yml}\n`,
    );
    expect(codes(load(text.join('')))).toEqual([]);
  });
});

describe('a mistake', () => {
  test.each([
    ['L4', 'group: demo.io, kind: A, playbook: pb.yml', ['W3 1 version']],
    ['no kind', 'group: demo.io, version: v1, playbook: pb.yml', ['W4 1 kind']],
    ['L5', A, ['W6 1 playbook']],
    ['L7', `${A}, role: nope`, ['W8 1 role']],
    ['W7', `${A}, playbook: nope.yml`, ['W7 1 playbook']],
    ['L8', `${A}, playbook: pb.yml, finalizer: {vars: {x: 1}}`, ['W9 1 finalizer.name']],
    ['L9', `${A}, playbook: pb.yml, finalizer: {name: f/x, role: nope}`, ['W8 1 finalizer.role']],
    ['L10', `${A}, playbook: pb.yml, finalizer: {name: f/x, role: nope, vars: {x: 1}}`, ['W8 1 finalizer.role']],
    ['W10', `${A}, playbook: pb.yml, finalizer: {name: f/x, vars: {}}`, ['W10 1 finalizer']],
    ['W10 at a misspelt key', `${A}, playbook: pb.yml, finalizer: {name: f/x, rol: myrole}`, ['W10 1 finalizer']],
    ['L11', `${A}, playbook: pb.yml, reconcilePeriod: 1d`, ['W2 1 reconcilePeriod']],
    ['a period that is a number', `${A}, playbook: pb.yml, reconcilePeriod: 30`, ['W2 1 reconcilePeriod']],
    ['L13', `${A}, playbook: pb.yml, manageStatus: "yes"`, ['W2 1 manageStatus']],
    ['a number for text', `${A}, playbook: 5`, ['W2 1 playbook']],
    ['a fraction of artifacts', `${A}, playbook: pb.yml, maxRunnerArtifacts: 1.5`, ['W2 1 maxRunnerArtifacts']],
    ['a list of variables', `${A}, playbook: pb.yml, vars: [1]`, ['W2 1 vars']],
    ['no number', `${A}, playbook: pb.yml, vars: {x: [{y: .inf}]}`, ['W2 1 vars']],
    ['a wrong item', `${A}, playbook: pb.yml, blacklist: [{kind: [Pod]}]`, ['W2 1 blacklist.0.kind']],
    [
      'W12',
      `${A}, playbook: pb.yml, selector: {matchExpressions: [{key: a, operator: Is, values: [x]}]}`,
      ['W12 1 selector.matchExpressions.0.operator'],
    ],
    [
      'an operator without its values',
      `${A}, playbook: pb.yml, selector: {matchExpressions: [{key: a, operator: In}]}`,
      ['W12 1 selector.matchExpressions.0.operator'],
    ],
    ['L17', `${A}, playbook: pb.yml, muster: {run_timeout: soon}`, ['W2 1 muster.run_timeout']],
    ['L17', `${A}, playbook: pb.yml, muster: {runtimeout: 1m}`, ['W13 1 muster.runtimeout']],
    ['no timeout', `${A}, playbook: pb.yml, muster: {run_timeout: 0s}`, ['W13 1 muster.run_timeout']],
    ['a word', `${A}, playbook: pb.yml, muster: {on_delete: kill}`, ['W13 1 muster.on_delete']],
    ['a word', `${A}, playbook: pb.yml, muster: {resync_on_start: never}`, ['W13 1 muster.resync_on_start']],
    [
      'bounds of the back-off',
      `${A}, playbook: pb.yml, muster: {backoff: {initial: 99ms, factor: 11, max: 25h}}`,
      ['W13 1 muster.backoff.initial', 'W13 1 muster.backoff.factor', 'W13 1 muster.backoff.max'],
    ],
    [
      'initial above max',
      `${A}, playbook: pb.yml, muster: {backoff: {initial: 2000s}}`,
      ['W13 1 muster.backoff.initial'],
    ],
    ['max below initial', `${A}, playbook: pb.yml, muster: {backoff: {max: 500ms}}`, ['W13 1 muster.backoff.max']],
  ])('%s', (_, members, expected) => {
    const loaded = one(members);
    expect(codes(loaded)).toEqual(expected);
    // 12.7: the entry is there all the same.
    expect(loaded.entries).toHaveLength(1);
    expect(loaded.errors.every(({ fix }) => fix !== '')).toBe(true);
  });

  test('L15: the same kind twice', () => {
    const loaded = load(`- {${A}, playbook: pb.yml}\n- {${A}, role: myrole}\n`);
    expect(codes(loaded)).toEqual(['W5 2 kind']);
    expect(loaded.errors[0]?.message).toBe('duplicate GVK: demo.io/v1, Kind=A');
  });

  test.each([
    [`${A}, role: nope`, 'role: nope was not found'],
    [`${A}, role: /no/pe`, 'role: /no/pe was not found'],
    [`${A}, playbook: ../x/pb.yml`, 'playbook: /home/x/pb.yml was not found'],
    ['group: demo.io, kind: A, playbook: pb.yml', 'invalid GVK: demo.io/, Kind=A: version must not be empty'],
    ['group: demo.io, version: v1, playbook: pb.yml', 'invalid GVK: demo.io/v1, Kind=: kind must not be empty'],
    [A, 'must specify Role or Playbook'],
    [`${A}, playbook: pb.yml, reconcilePeriod: 1d`, 'reconcilePeriod: time: unknown unit "d" in duration "1d"'],
    [`${A}, playbook: pb.yml, muster: {on_delete: kill}`, 'muster: on_delete: finish or cancel'],
    [`${A}, playbook: pb.yml, manageStatus: "yes"`, 'manageStatus: must be a boolean, is text'],
  ])('of %s begins with its stem', (members, message) => {
    expect(one(members).errors.map((error) => error.message)).toEqual([message]);
  });

  test('all of them are told: first the forms of all entries, then what they mean, entry by entry', () => {
    const loaded = load(`
- {group: demo.io, kind: A, role: nope, manageStatus: 1, finalizer: {vars: 5}}
- 7
- {${A}, playbook: pb.yml}
- {${A}, finalizer: {}, muster: {x: 1}, selector: {matchExpressions: [{key: a, operator: Is}]}}
`);
    expect(codes(loaded)).toEqual([
      'W2 1 manageStatus',
      'W2 1 finalizer.vars',
      'W3 1 version',
      'W2 2',
      'W13 4 muster.x',
      'W8 1 role',
      'W9 1 finalizer.name',
      'W5 4 kind',
      'W6 4 playbook',
      'W9 4 finalizer.name',
      'W10 4 finalizer',
      'W12 4 selector.matchExpressions.0.operator',
    ]);
  });

  test.each([
    ['a map at the root', 'a: 1', 'the file must be a list of entries'],
    ['no YAML', '- {a: b', 'not YAML: '],
    ['an alias without anchor', '- *x', 'not YAML: '],
  ])('%s is W2 of the file', (_, text, message) => {
    const { entries, errors } = load(text);
    expect(entries).toEqual([]);
    expect(errors).toMatchObject([{ code: 'W2', entry: null, message: expect.stringContaining(message) }]);
  });

  test('the mistake of a file that is no YAML shows nothing of the environment', () => {
    const { errors } = load('- {a: "$TOKEN', { env: { TOKEN: 'a-secret' } });
    expect(errors).toHaveLength(1);
    expect(JSON.stringify(errors)).not.toContain('a-secret');
  });
});

describe('a warning', () => {
  test.each([
    ['', ['no_entries']],
    ['[]', ['no_entries']],
    ['# nothing', ['no_entries']],
    [`- {${A}, playbook: pb.yml, maxConcurrentReconciles: 3}`, ['unknown_key']],
    [`- {${A}, playbook: pb.yml, Playbook: other.yml}`, ['repeated_key']],
    [`- {${A}, playbook: pb.yml}\n---\n- more`, ['left_out']],
    [`- {${A}, playbook: pb.yml, vars: {x: !vault y}}`, ['left_out']],
  ])('%j', (text, expected) => {
    const loaded = load(text, { paths: ['pb.yml', 'other.yml'] });
    expect(loaded.errors).toEqual([]);
    expect(loaded.warnings.map(({ code }) => code)).toEqual(expected);
  });

  test('tells entries whose text is templated, unless they or the flag say otherwise', () => {
    const text = `- {${A}, playbook: pb.yml}\n- {version: v1, kind: B, playbook: pb.yml, markUnsafe: true}\n`;
    const plain = load(text, { markUnsafe: false });
    expect(plain.warnings).toMatchObject([{ code: 'text_is_templated', entry: 1, field: 'markUnsafe' }]);
    expect(plain.entries.map(({ mark_unsafe }) => mark_unsafe)).toEqual([false, true]);
    expect(load(text, { markUnsafe: true }).warnings).toEqual([]);
  });

  test('a repeated key keeps its last value', () => {
    const text = `- {${A}, playbook: other.yml, Playbook: pb.yml, version: v1, version: v2}`;
    expect(load(text).entries).toMatchObject([{ playbook: `${HOME}/pb.yml`, version: 'v2' }]);
  });
});
