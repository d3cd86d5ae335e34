import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type Component,
  type ComponentBody,
  StateAppendSchema,
  type StateLayer,
} from '../../domain/components/schema.ts';
import { splitCommit } from '../../domain/components/state-layers.ts';
import { mergeTags, parseTagFilter } from '../../domain/components/tags.ts';
import { patchComponent, putComponent } from '../../domain/components/write-component.ts';

const R1 = 'https://git.example.test/one.git';
const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const C = 'c'.repeat(40);
const NOW = new Date('2026-11-21T10:00:00.789Z');
const TIME = '2026-11-21T10:00:00Z';
const OLD = '2020-01-01T00:00:00Z';

const layer = (playbook: string, commit: string, status: StateLayer['status'] = 'applied'): StateLayer => ({
  clone_url: R1,
  playbook,
  commit,
  status,
  session_name: 's',
  last_updated: OLD,
});
const input = ({ last_updated: _, ...rest }: StateLayer) => rest as NonNullable<ComponentBody['state']>[number];
const stored = (changes: Partial<Component> = {}): Component => ({
  id: 'x',
  state: [],
  desired_config: '',
  error_count: 0,
  enabled: false,
  tags: {},
  ...changes,
});

describe('the write examples of cfs-api 7', () => {
  test('an emptied state resets the count', () => {
    const after = patchComponent(
      stored({ error_count: 2, state: [layer('site.yml', A)] }),
      { state: [], enabled: true },
      NOW,
    );
    expect(after).toEqual(stored({ error_count: 0, state: [], enabled: true }));
  });
  test('a desired configuration, even the same, resets the count', () => {
    const before = stored({ error_count: 2, desired_config: 'one' });
    expect(patchComponent(before, { desired_config: 'one' }, NOW).error_count).toBe(0);
  });
  test('an explicit count wins', () => {
    const before = stored({ error_count: 2, desired_config: 'one' });
    expect(patchComponent(before, { desired_config: 'two', error_count: 2 }, NOW)).toEqual({
      ...before,
      desired_config: 'two',
    });
  });
  test('an appended layer replaces that of its repository and playbook and comes last', () => {
    const before = stored({ state: [layer('site.yml', A), layer('net.yml', B)] });
    const state_append = { clone_url: R1, playbook: 'site.yml', commit: `${C}_failed`, session_name: 's' };
    const after = patchComponent(before, { state_append, error_count: 1 }, NOW);
    expect(after.state).toEqual([layer('net.yml', B), { ...layer('site.yml', C, 'failed'), last_updated: TIME }]);
    expect(after.error_count).toBe(1);
  });
  test('tags merge, an empty value deletes', () => {
    const after = patchComponent(stored({ tags: { a: '1', b: '2' } }), { tags: { a: '', c: '3' } }, NOW);
    expect(after.tags).toEqual({ b: '2', c: '3' });
  });
});

describe('times of layers', () => {
  const before = stored({ state: [layer('site.yml', A), layer('net.yml', B)] });
  test('an unchanged layer keeps its time, a changed one gets now', () => {
    const after = patchComponent(before, { state: [input(layer('net.yml', B)), input(layer('site.yml', C))] }, NOW);
    expect(after.state.map((one) => one.last_updated)).toEqual([OLD, TIME]);
  });
  test('a PUT keeps nothing', () => {
    const after = putComponent('x', { state: [input(layer('site.yml', A))] }, NOW);
    expect(after).toEqual(stored({ state: [{ ...layer('site.yml', A), last_updated: TIME }] }));
  });
  test('state replaces first, then state_append is added', () => {
    const state_append = { clone_url: R1, playbook: 'net.yml', commit: B };
    const after = patchComponent(before, { state: [input(layer('site.yml', A))], state_append }, NOW);
    expect(after.state).toEqual([
      layer('site.yml', A),
      { ...layer('net.yml', B), session_name: '', last_updated: TIME },
    ]);
  });
});

describe('the error count', () => {
  test.each<[string, ComponentBody, number]>([
    ['nothing', {}, 5],
    ['a non-empty state', { state: [input(layer('site.yml', A))] }, 5],
    ['state_append', { state_append: { clone_url: R1, playbook: 'p', commit: A } }, 5],
    ['enabled and tags', { enabled: true, tags: { a: '1' } }, 5],
    ['an empty state', { state: [] }, 0],
    ['an emptied desired configuration', { desired_config: '' }, 0],
    ['an empty state with a count', { state: [], error_count: -7 }, -7],
  ])('after a patch of %s', (_name, body, count) => {
    expect(patchComponent(stored({ error_count: 5 }), body, NOW).error_count).toBe(count);
  });
});

describe('commits with a suffix', () => {
  test.each([
    ['abc', 'abc', undefined],
    ['abc_failed', 'abc', 'failed'],
    ['abc_skipped', 'abc', 'skipped'],
    ['abc_applied', 'abc', 'applied'],
    ['abc_incomplete', 'abc', 'incomplete'],
    ['_failed', '', 'failed'],
    ['', '', undefined],
  ])('%s', (text, commit, status) => expect(splitCommit(text)).toEqual({ commit, status }));

  test.each(['a_b', 'a_', '_', 'a_failed_failed', 'a_FAILED', 'a_failed ', 'a__failed', 'a_failed\n'])(
    '%j is refused',
    (commit) => {
      expect(StateAppendSchema.safeParse({ clone_url: R1, playbook: 'p', commit }).success).toBe(false);
    },
  );

  test('the suffix wins over the status member', () => {
    const state_append = { clone_url: R1, playbook: 'p', commit: `${A}_incomplete`, status: 'failed' as const };
    expect(patchComponent(stored(), { state_append }, NOW).state[0]?.status).toBe('incomplete');
    expect(patchComponent(stored(), { state_append: { ...state_append, commit: A } }, NOW).state[0]?.status).toBe(
      'failed',
    );
  });
});

describe('tags', () => {
  test.each([
    ['', []],
    ['a=b', [['a', 'b']]],
    [
      'a=b,c=',
      [
        ['a', 'b'],
        ['c', ''],
      ],
    ],
    ['=', [['', '']]],
  ])('the filter %j', (text, pairs) => expect(parseTagFilter(text)).toEqual(pairs));
  test.each(['a', ',', 'a=b,', 'a==b', 'a=b=c'])('the filter %j is refused', (text) => {
    expect(() => parseTagFilter(text)).toThrow(expect.objectContaining({ code: 'bad_tags' }));
  });
  test('merging again changes nothing, and no value is ever empty', () => {
    const record = fc.dictionary(fc.string(), fc.string({ maxLength: 2 }));
    fc.assert(
      fc.property(record, record, (before, given) => {
        const once = mergeTags(before, given);
        expect(mergeTags(once, given)).toEqual(once);
        expect(Object.values(once)).not.toContain('');
      }),
    );
  });
});

test('however layers are appended, there is one of each repository and playbook and the newest is last', () => {
  const append = fc.record({
    clone_url: fc.constantFrom('u', 'v'),
    playbook: fc.constantFrom('p', 'q'),
    commit: fc.constantFrom('1', '2_failed'),
  });
  fc.assert(
    fc.property(fc.array(append, { minLength: 1, maxLength: 20 }), (appends) => {
      const after = appends.reduce(
        (component, state_append) => patchComponent(component, { state_append }, NOW),
        stored(),
      );
      const keys = after.state.map((one) => `${one.clone_url} ${one.playbook}`);
      expect(new Set(keys).size).toBe(keys.length);
      const last = appends.at(-1);
      expect(keys.at(-1)).toBe(`${last?.clone_url} ${last?.playbook}`);
    }),
  );
});
