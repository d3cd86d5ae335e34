import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type Component,
  type ComponentBody,
  ComponentBodySchema,
  LAYER_STATES,
} from '../../domain/components/schema.ts';
import { mergeTags, parseTagFilter } from '../../domain/components/tags.ts';
import {
  patchComponent,
  patchedMembers,
  putComponent,
  WRITABLE_MEMBERS,
} from '../../domain/components/write-component.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const LATER = new Date('2026-11-22T10:00:00Z');

const word = fc.constantFrom('a', 'b', '', 'A', '\u{1F642}', 'x_y');
const input = fc.record({
  clone_url: word,
  playbook: word,
  commit: word,
  status: fc.constantFrom('applied' as const, 'failed' as const, 'skipped' as const),
  session_name: word,
});
const tags = fc.dictionary(word, word, { maxKeys: 4 });
const body: fc.Arbitrary<ComponentBody> = fc.record(
  {
    state: fc.array(input, { maxLength: 4 }),
    state_append: fc.record({
      clone_url: word,
      playbook: word,
      commit: fc.constantFrom('a', 'b_failed', '_incomplete', 'c_applied', ''),
      session_name: word,
    }),
    desired_config: word,
    error_count: fc.integer({ min: -3, max: 9 }),
    retry_policy: fc.integer({ min: -2, max: 9 }),
    enabled: fc.boolean(),
    tags,
  },
  { requiredKeys: [] },
);
const stored: fc.Arbitrary<Component> = fc
  .tuple(body, body)
  .map(([first, second]) => patchComponent(putComponent('x', first, new Date(0)), second, new Date(1_000)));
const withoutTimes = (component: Component) => ({
  ...component,
  state: component.state.map(({ last_updated: _, ...rest }) => rest),
});

describe('any write', () => {
  test('repeated leaves the same record, times aside', () => {
    fc.assert(
      fc.property(stored, body, (before, change) => {
        const once = patchComponent(before, change, NOW);
        expect(withoutTimes(patchComponent(once, change, LATER))).toEqual(withoutTimes(once));
        expect(withoutTimes(putComponent('x', change, LATER))).toEqual(withoutTimes(putComponent('x', change, NOW)));
      }),
    );
  });

  test('changes only the members that it is said to change', () => {
    fc.assert(
      fc.property(stored, body, (before, change) => {
        const after = patchComponent(before, change, NOW);
        const members = patchedMembers(change);
        for (const member of WRITABLE_MEMBERS) {
          if (!members.has(member)) expect(after[member]).toEqual(before[member]);
        }
        expect(after.id).toBe(before.id);
      }),
    );
  });

  test('leaves a record that a PUT would take again, but for times and what only a report can say', () => {
    fc.assert(
      fc.property(stored, (component) => {
        for (const entry of component.state) expect(LAYER_STATES).toContain(entry.status);
        const reported = { ...component, state: withoutTimes(component).state };
        const accepted = ComponentBodySchema.safeParse(reported).success;
        expect(accepted).toBe(component.state.every((entry) => entry.status !== 'incomplete'));
      }),
    );
  });

  test('of a count wins over every reset; a reset comes of a desired configuration or an emptied state alone', () => {
    fc.assert(
      fc.property(stored, body, (before, change) => {
        const { error_count } = patchComponent(before, change, NOW);
        const resets = change.desired_config !== undefined || (change.state !== undefined && change.state.length === 0);
        expect(error_count).toBe(change.error_count ?? (resets ? 0 : before.error_count));
      }),
    );
  });

  test('of the state keeps the time of every layer that is equal in all else', () => {
    fc.assert(
      fc.property(stored, fc.array(input, { maxLength: 4 }), (before, state) => {
        const after = patchComponent(before, { state }, NOW);
        expect(withoutTimes(after).state).toEqual(state);
        for (const layer of after.state) {
          const { last_updated, ...rest } = layer;
          const known = withoutTimes(before).state.some((one) => JSON.stringify(one) === JSON.stringify(rest));
          expect(last_updated === '2026-11-21T10:00:00Z').toBe(!known);
        }
      }),
    );
  });
});

describe('tags', () => {
  const key = fc.constantFrom('a', 'b', '', 'constructor', 'toString', '\u{1F642}', 'a b', 'k.k');
  test('are as if each key was set or removed by itself', () => {
    const record = fc.dictionary(key, word);
    fc.assert(
      fc.property(record, record, (before, given) => {
        const merged = mergeTags(before, given);
        for (const name of new Set([...Object.keys(before), ...Object.keys(given)])) {
          const value = Object.hasOwn(given, name) ? given[name] : before[name];
          expect(Object.hasOwn(merged, name) ? merged[name] : '').toBe(value);
        }
      }),
    );
  });

  test('in a filter are its items and nothing else', () => {
    const text = fc.stringMatching(/^[^,=]*$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 5 }), (pairs) => {
        expect(parseTagFilter(pairs.map(([name, value]) => `${name}=${value}`).join(','))).toEqual(pairs);
      }),
    );
  });
});
