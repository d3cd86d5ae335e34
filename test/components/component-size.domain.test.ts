import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  fittingState,
  isTooLarge,
  MAX_COMPONENT_BYTES,
  MAX_COMPONENT_TAGS,
  MAX_STATE_ENTRIES,
} from '../../domain/components/component-size.ts';
import type { Component, ComponentBody, StateLayer, StateLayerInput } from '../../domain/components/schema.ts';
import { patchComponent, putComponent } from '../../domain/components/write-component.ts';
import { jsonBytes } from '../../domain/json-size.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const input = (number: number, session = 's'): StateLayerInput => ({
  clone_url: 'https://git.example.test/x.git',
  playbook: `p${number}.yml`,
  commit: 'c',
  status: 'applied',
  session_name: session,
});
const many = (count: number) => Array.from({ length: count }, (_, number) => input(number));
const tags = (count: number, length: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, number) => [`t${number}`, 'x'.repeat(length)]));
const append: ComponentBody = {
  state_append: { clone_url: 'u', playbook: 'more.yml', commit: 'c_applied', session_name: 's' },
};

describe('a write is refused that makes a component larger than', () => {
  test('its state may have entries', () => {
    const full = putComponent('a', { state: many(MAX_STATE_ENTRIES) }, NOW);
    expect(full.state).toHaveLength(MAX_STATE_ENTRIES);
    expect(() => putComponent('a', { state: many(MAX_STATE_ENTRIES + 1) }, NOW)).toThrow(
      /at most 1000 entries: this would be 1001$/,
    );
    expect(() => patchComponent(full, append, NOW)).toThrow(/1000 entries: this would be 1001$/);
    const again = { state_append: { ...input(3), commit: 'd', last_updated: undefined } };
    expect(patchComponent(full, again, NOW).state).toHaveLength(MAX_STATE_ENTRIES);
  });

  test('it may have tags, also by merging', () => {
    const full = putComponent('a', { tags: tags(MAX_COMPONENT_TAGS, 1) }, NOW);
    expect(() => patchComponent(full, { tags: { more: '1' } }, NOW)).toThrow(/at most 1000 tags: this would be 1001/);
    expect(Object.keys(patchComponent(full, { tags: { more: '1', t1: '' } }, NOW).tags)).toHaveLength(1_000);
  });

  test('it may have bytes in all', () => {
    const empty = putComponent('a', { tags: { t: 'x' } }, NOW);
    const room = MAX_COMPONENT_BYTES - jsonBytes(empty) + 1;
    const most = putComponent('a', { tags: { t: 'x'.repeat(room) } }, NOW);
    expect(jsonBytes(most)).toBe(MAX_COMPONENT_BYTES);
    expect(() => putComponent('a', { tags: { t: 'x'.repeat(room + 1) } }, NOW)).toThrow(
      /Component a would have 262145 bytes, \d+ of them in its tags: at most 262144 \(256 KiB\)$/,
    );
    expect(() => putComponent('a', { tags: { t: 'ä'.repeat(room / 2 + 1) } }, NOW)).toThrow(/256 KiB/);
    expect(() => patchComponent(most, append, NOW)).toThrow(/of them in its state: at most .* \(256 KiB\)/);
    const long = { ...input(1), clone_url: 'u'.repeat(MAX_COMPONENT_BYTES) };
    expect(() => putComponent('a', { state: [long] }, NOW)).toThrow(/of them in its state: at most .* \(256 KiB\)/);
  });
});

test('what is larger already can be written as long as it does not grow', () => {
  const layer = (number: number): StateLayer => ({ ...input(number), last_updated: '2026-11-21T10:00:00Z' });
  const old: Component = {
    ...putComponent('a', {}, NOW),
    state: Array.from({ length: 1_500 }, (_, number) => layer(number)),
    tags: tags(300, 1_000),
  };
  expect(patchComponent(old, { enabled: true, desired_config: 'much-longer-than-before' }, NOW).enabled).toBe(true);
  expect(patchComponent(old, { state: [] }, NOW).state).toEqual([]);
  expect(Object.keys(patchComponent(old, { tags: { t1: '' } }, NOW).tags)).toHaveLength(299);
  expect(() => patchComponent(old, { tags: { more: 'x' } }, NOW)).toThrow(/256 KiB/);
  expect(() => patchComponent(old, append, NOW)).toThrow(/1501/);
});

test('what a session reports fits: the oldest entries of others go, then other ones, never its own', () => {
  const text = fc.string({ maxLength: 400 });
  const entry = fc.record({
    clone_url: text,
    playbook: text,
    commit: text,
    status: fc.constant('applied' as const),
    session_name: fc.constantFrom('ours', 'foreign', 'now'),
    last_updated: fc.constant('2026-11-21T10:00:00Z'),
  });
  const states = fc
    .array(entry, { minLength: 1, maxLength: 40 })
    .chain((some) => fc.integer({ min: 1, max: 60 }).map((times) => Array.from({ length: times }, () => some).flat()))
    .map((state) => state.map((one) => ({ ...one })));
  fc.assert(
    fc.property(states, fc.nat(MAX_COMPONENT_BYTES), (state, length) => {
      const component = { ...putComponent('a', {}, NOW), state, tags: { t: 'x'.repeat(length) } };
      const left = fittingState(component, 'now', ({ session_name }) => session_name === 'ours');
      const after = { ...component, state: left };
      const gone = state.filter((one) => !left.includes(one));
      expect(left).toEqual(state.filter((one) => left.includes(one)));
      expect(gone.filter(({ session_name }) => session_name === 'now')).toEqual([]);
      const has = (name: string) => left.some(({ session_name }) => session_name === name);
      if (gone.some(({ session_name }) => session_name === 'ours')) expect(has('foreign')).toBe(false);
      if (has('foreign') || has('ours')) expect(isTooLarge(after)).toBe(false);
      if (!isTooLarge(component)) expect(left).toEqual(state);
    }),
    { numRuns: 60 },
  );
});
