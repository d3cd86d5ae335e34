import { expect, test } from '@jest/globals';
import { groupWarnings, whyNone } from '../../../domain/sessions/limit-warnings.ts';

test('a name in the limit of a person that is a group means the group, and says so', () => {
  expect(groupWarnings({ groups: ['role_web', 'all', 'ungrouped'] }, false)).toEqual([
    "'role_web' in the limit means a group of the inventory, and nothing is recorded for a component of this name.",
  ]);
});

test('a name that Muster gives and that is a group is left out, and says so', () => {
  expect(groupWarnings({ groups: ['role_web'] }, true)).toEqual([
    "'role_web' is left out of the limit: it is a group of the inventory, and a component of this name can be no host.",
  ]);
  expect(whyNone({ groups: ['role_web'] })).toBe(": 'role_web' is a group of the inventory");
  expect([whyNone({ groups: [] }), whyNone(null)]).toEqual(['', '']);
});

test('at most 20 are named', () => {
  const groups = Array.from({ length: 25 }, (_, index) => `g_${index}`);
  expect(groupWarnings({ groups }, false)).toHaveLength(21);
  expect(groupWarnings({ groups }, false).at(-1)).toBe('5 more names of the limit are groups too.');
});
