import { describe, expect, test } from '@jest/globals';
import { type HsmRecords, hsmInventory } from '../../domain/components/inventory/hsm-inventory.ts';

const records = (given: Partial<HsmRecords>): HsmRecords => ({ groups: [], partitions: [], components: [], ...given });
const group = (label: string, ...members: string[]) => ({ label, members });
const partition = (name: string, ...members: string[]) => ({ name, members });
const entries = (given: Partial<HsmRecords>) => Object.fromEntries(hsmInventory(records(given)).groups);

test('the worked example', () => {
  const tree = hsmInventory({
    groups: [group('gpu', 'x1'), group('bad-name', 'x2')],
    partitions: [partition('p1', 'x1', 'x2')],
    components: [{ ID: 'x1', Role: 'Compute' }, { ID: 'x2', Role: 'Application', SubRole: 'UAN' }, { ID: 'x3' }],
  });
  expect(Object.fromEntries(tree.groups)).toEqual({
    gpu: ['x1'],
    p1: ['x1', 'x2'],
    Compute: ['x1'],
    Application: ['x2'],
    Application_UAN: ['x2'],
  });
  expect(tree.warnings).toEqual([expect.stringContaining("Group 'bad-name'")]);
  expect(tree).toMatchObject({ below: 'all', hosts: new Map() });
});

describe('a later group of the same name replaces the earlier', () => {
  test('group by partition by role', () => {
    const given = {
      groups: [group('Compute', 'x1'), group('pp', 'x1')],
      partitions: [partition('pp', 'x2')],
      components: [{ ID: 'x3', Role: 'Compute' }],
    };
    expect(entries(given)).toEqual({ Compute: ['x3'], pp: ['x2'] });
  });
  test('and a label given twice', () => {
    expect(entries({ groups: [group('gg', 'x1'), group('gg', 'x2')] })).toEqual({ gg: ['x2'] });
  });
});

describe('roles', () => {
  test.each([
    [{ ID: 'x1', Role: 'Compute' }, { Compute: ['x1'] }],
    [
      { ID: 'x1', Role: 'Compute', SubRole: 'Worker' },
      { Compute: ['x1'], Compute_Worker: ['x1'] },
    ],
    [{ ID: 'x1', SubRole: 'Worker' }, { _Worker: ['x1'] }],
    [{ ID: 'x1', Role: '' }, {}],
    [{ ID: 'x1', Role: 'with-hyphen' }, { 'with-hyphen': ['x1'] }],
    [{ ID: 'x1', Role: 'class' }, { class: ['x1'] }],
    [{ ID: 'x1', Role: 'R' }, { R: ['x1'] }],
    [{ ID: 'x1', Role: '__proto__' }, Object.fromEntries([['__proto__', ['x1']]])],
  ])('%j', (component, groups) => {
    expect(entries({ components: [component] })).toEqual(groups);
  });
  test.each(['all', '../x', 'a\nb'])('named %j would spoil the inventory and is left out with a warning', (Role) => {
    const tree = hsmInventory(records({ components: [{ ID: 'x1', Role }] }));
    expect(tree.groups.size).toBe(0);
    expect(tree.warnings).toHaveLength(1);
  });
});

test.each([
  'a',
  '_',
  '1ab',
  'a-b',
  'a.b',
  'a b',
  'ab\n',
  '',
  'äb',
  'all',
  ...'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
])('group and partition name %j is dropped with a warning', (name) => {
  const tree = hsmInventory(records({ groups: [group(name, 'x1')], partitions: [partition(name, 'x1')] }));
  expect(tree.groups.size).toBe(0);
  expect(tree.warnings).toHaveLength(2);
});

test.each(['ab', '_a', 'a1', '__', 'A_b', 'match', 'none', 'case', 'TRUE', 'ungrouped'])('name %s is taken', (name) => {
  expect(entries({ groups: [group(name, 'x1')] })).toEqual({ [name]: ['x1'] });
});

test.each(['x[0:3]', 'h:22', 'a,b', 'a b', '!a', '&a', '{{ x }}', '', 'all', 'gg'])(
  'host id %j is left out, with one warning',
  (id) => {
    const tree = hsmInventory(
      records({ groups: [group('gg', id, 'x1', 'x1')], components: [{ ID: id, Role: 'Compute' }] }),
    );
    expect(Object.fromEntries(tree.groups)).toEqual({ gg: ['x1'], Compute: [] });
    expect(tree.warnings).toHaveLength(1);
  },
);

test('very many names that are left out are counted behind the first twenty', () => {
  const groups = Array.from({ length: 5_000 }, (_, index) => group(`bad-${index}`, 'x1'));
  const { warnings } = hsmInventory(records({ groups }));
  expect(warnings).toHaveLength(21);
  expect(warnings.at(-1)).toBe('4980 more names of the hardware manager are left out of the inventory.');
});
