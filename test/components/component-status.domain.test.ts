import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CONFIGURATION_STATUSES, LAYER_STATES, type StateLayer } from '../../domain/components/schema.ts';
import { configurationStatus, type DesiredLayerFacts } from '../../domain/components/status.ts';

const R1 = 'https://git.example.test/one.git';
const R2 = 'https://git.example.test/two.git';
const [A, B, C] = ['a', 'b', 'c'].map((digit) => digit.repeat(40)) as [string, string, string];
const OPTIONS = { default_batcher_retry_policy: 3, default_playbook: 'site.yml' };

const CONFIGURATIONS: Record<string, DesiredLayerFacts[]> = {
  two: [
    { clone_url: R1, playbook: 'site.yml', commit: A },
    { clone_url: R1, playbook: 'net.yml', commit: B },
  ],
  one: [{ clone_url: R1, playbook: 'site.yml', commit: A }],
  three: [
    { clone_url: R1, playbook: 'site.yml', commit: A },
    { clone_url: R2, playbook: 'site.yml', commit: B },
    { clone_url: R2, playbook: 'net.yml', commit: C },
  ],
  empty: [],
  nocommit: [{ clone_url: R1, playbook: 'site.yml' }],
};

type Row = [clone_url: string, playbook: string, commit: string, status: StateLayer['status']];
const stateOf = (rows: Row[]): StateLayer[] =>
  rows.map(([clone_url, playbook, commit, status]) => ({
    clone_url,
    playbook,
    commit,
    status,
    session_name: 's',
    last_updated: '2026-11-21T10:00:00Z',
  }));

describe('the vectors of cfs-api 7', () => {
  test.each<[number, string, Row[], number, number | undefined, string, string[]]>([
    [1, '', [], 0, undefined, 'unconfigured', []],
    [2, '', [[R1, 'site.yml', A, 'failed']], 9, undefined, 'configured', []],
    [3, 'gone', [], 0, undefined, 'unconfigured', []],
    [4, 'two', [], 0, undefined, 'pending', ['pending', 'pending']],
    [5, 'two', [[R1, 'site.yml', A, 'applied']], 0, undefined, 'pending', ['configured', 'pending']],
    [
      6,
      'two',
      [
        [R1, 'site.yml', A, 'applied'],
        [R1, 'net.yml', B, 'skipped'],
      ],
      0,
      undefined,
      'configured',
      ['configured', 'configured'],
    ],
    [
      7,
      'two',
      [
        [R1, 'site.yml', A, 'applied'],
        [R1, 'net.yml', B, 'failed'],
      ],
      2,
      undefined,
      'pending',
      ['configured', 'pending'],
    ],
    [
      8,
      'two',
      [
        [R1, 'site.yml', A, 'applied'],
        [R1, 'net.yml', B, 'failed'],
      ],
      3,
      undefined,
      'failed',
      ['configured', 'failed'],
    ],
    [9, 'two', [[R1, 'net.yml', B, 'failed']], 99, -1, 'pending', ['pending', 'pending']],
    [10, 'two', [[R1, 'net.yml', B, 'failed']], 3, 5, 'pending', ['pending', 'pending']],
    [
      11,
      'two',
      [
        [R1, 'site.yml', A, 'applied'],
        [R1, 'net.yml', B, 'applied'],
      ],
      9,
      undefined,
      'configured',
      ['configured', 'configured'],
    ],
    [12, 'two', [], 3, undefined, 'failed', ['pending', 'pending']],
    [
      13,
      'two',
      [
        [R1, 'site.yml', C, 'applied'],
        [R1, 'net.yml', B, 'applied'],
      ],
      0,
      undefined,
      'pending',
      ['pending', 'configured'],
    ],
    [14, 'one', [[R2, 'site.yml', A, 'applied']], 0, undefined, 'pending', ['pending']],
    [15, 'one', [[R1, 'site.yml', A, 'incomplete']], 3, undefined, 'failed', ['pending']],
    [16, 'empty', [], 0, undefined, 'configured', []],
    [17, 'nocommit', [], 9, undefined, 'unconfigured', ['unconfigured']],
    [18, 'one', [], 0, undefined, 'pending', ['pending']],
    [
      19,
      'three',
      [
        [R1, 'site.yml', A, 'applied'],
        [R2, 'site.yml', B, 'failed'],
      ],
      3,
      undefined,
      'failed',
      ['configured', 'failed', 'pending'],
    ],
    [
      20,
      'three',
      [
        [R1, 'site.yml', A, 'applied'],
        [R2, 'site.yml', B, 'failed'],
      ],
      2,
      undefined,
      'pending',
      ['configured', 'pending', 'pending'],
    ],
  ])('%i: %s', (_number, configuration, rows, error_count, retry_policy, status, layers) => {
    const component = { state: stateOf(rows), error_count, ...(retry_policy === undefined ? {} : { retry_policy }) };
    expect(configurationStatus(component, CONFIGURATIONS[configuration] ?? null, OPTIONS)).toEqual({ status, layers });
  });
});

describe('rules beside the vectors', () => {
  test('a layer without playbook is compared with the default one', () => {
    const component = { state: stateOf([[R1, 'site.yml', A, 'applied']]), error_count: 0 };
    for (const playbook of [undefined, '']) {
      expect(configurationStatus(component, [{ clone_url: R1, commit: A, playbook }], OPTIONS).status).toBe(
        'configured',
      );
    }
  });

  test('the first of two equal entries decides', () => {
    const state = stateOf([
      [R1, 'site.yml', A, 'failed'],
      [R1, 'site.yml', A, 'applied'],
    ]);
    expect(configurationStatus({ state, error_count: 0 }, CONFIGURATIONS.one ?? null, OPTIONS).layers).toEqual([
      'pending',
    ]);
  });

  test('a limit of 0 is used up at once, a negative count never is', () => {
    const layers = CONFIGURATIONS.one ?? null;
    expect(configurationStatus({ state: [], error_count: 0, retry_policy: 0 }, layers, OPTIONS).status).toBe('failed');
    expect(configurationStatus({ state: [], error_count: -5 }, layers, OPTIONS).status).toBe('pending');
  });
});

const url = fc.constantFrom(R1, R2, '');
const playbook = fc.constantFrom('site.yml', 'net.yml', '');
const commit = fc.constantFrom(A, B, C);
const entry = fc.record({ clone_url: url, playbook, commit, status: fc.constantFrom(...LAYER_STATES) });
const layer = fc.record({ clone_url: url, playbook, commit }, { requiredKeys: [] });
const componentArbitrary = fc.record({
  state: fc.array(
    entry.map((row) => ({ ...row, session_name: 's', last_updated: '' })),
    { maxLength: 5 },
  ),
  error_count: fc.integer({ min: -2, max: 6 }),
  retry_policy: fc.option(fc.integer({ min: -1, max: 5 }), { nil: undefined }),
});

describe('for any component and layers', () => {
  test('the status is the worst layer, but pending fails when the retries are used up', () => {
    fc.assert(
      fc.property(componentArbitrary, fc.array(layer, { maxLength: 5 }), ({ retry_policy, ...rest }, layers) => {
        const component = { ...rest, ...(retry_policy === undefined ? {} : { retry_policy }) };
        const result = configurationStatus(component, layers, OPTIONS);
        expect(result.layers).toHaveLength(layers.length);
        const retries = retry_policy ?? 3;
        const exhausted = retries !== -1 && component.error_count >= retries;
        const ranks = result.layers.map((status) => CONFIGURATION_STATUSES.indexOf(status));
        const worst = CONFIGURATION_STATUSES[Math.min(3, ...ranks)];
        expect(result.status).toBe(worst === 'pending' && exhausted ? 'failed' : worst);
        if (!exhausted) expect(result.layers).not.toContain('failed');
        for (const [index, { commit, clone_url }] of layers.entries()) {
          expect(result.layers[index] === 'unconfigured').toBe(!commit || !clone_url);
        }
      }),
    );
  });

  test('a success report of every layer makes it configured, whatever went before', () => {
    fc.assert(
      fc.property(componentArbitrary, ({ retry_policy: _, ...component }) => {
        const layers = CONFIGURATIONS.three ?? [];
        const state = layers.map((desired) => ({
          clone_url: desired.clone_url ?? '',
          playbook: desired.playbook ?? '',
          commit: desired.commit ?? '',
          status: 'applied' as const,
          session_name: '',
          last_updated: '',
        }));
        expect(configurationStatus({ ...component, state }, layers, OPTIONS).status).toBe('configured');
      }),
    );
  });
});
