import { expect, test } from '@jest/globals';
import { specInventory } from '../../../domain/sessions/spec-inventory.ts';

test('groups stand at the top, those given twice are merged, members once', () => {
  const tree = specInventory([
    { name: 'web', members: ['a', 'b'] },
    { name: 'db-1.x', members: ['fe80::1', '10.0.0.1', 'b'] },
    { name: 'web', members: ['b', 'c'] },
    { name: 'all', members: ['d'] },
  ]);
  expect(tree.below).toBe('top');
  expect([...tree.groups]).toEqual([
    ['web', ['a', 'b', 'c']],
    ['db-1.x', ['fe80::1', '10.0.0.1', 'b']],
    ['all', ['d']],
  ]);
});

test.each([
  'x[0:3]',
  'h:22',
  '[fe80::1]:22',
  'a,b',
  'a b',
  ' ',
  '!a',
  '&a',
  '~a',
  '*',
  '@f',
  '-a',
  '{{ x }}',
  'a\n',
  'all',
  'ungrouped',
  '',
])('member %j fails the session and is named by its place', (member) => {
  const make = (): unknown => specInventory([{ name: 'web', members: ['a', member] }]);
  expect(make).toThrow(expect.objectContaining({ code: 'inventory_invalid', field: 'target.groups.0.members.1' }));
});

test.each([
  'x[0:3]',
  'a:b',
  'a,b',
  '!a',
  '&a',
  '~a',
  '*',
  'a?',
  '@f',
  '-a',
  '../a',
  'a/b',
  ' a',
  'a ',
  'a\n',
  'plugin',
  '',
])('group %j fails the session and is named by its place', (name) => {
  const make = (): unknown =>
    specInventory([
      { name: 'web', members: ['a'] },
      { name, members: ['a'] },
    ]);
  expect(make).toThrow(expect.objectContaining({ code: 'inventory_invalid', field: 'target.groups.1.name' }));
});
