import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'yaml';
import type { InventoryTree } from '../../domain/components/inventory/inventory-tree.ts';
import { inventoryData, inventoryLines } from '../../drivers/inventory/write-inventory.ts';

const text = (tree: InventoryTree): string => [...inventoryLines(tree)].join('');

test('below all: block style, keys sorted and quoted, texts marked as not to be templated', () => {
  const tree: InventoryTree = {
    below: 'all',
    hosts: new Map<string, Record<string, string | number>>([
      ['b', {}],
      ['a', { ansible_user: 'r"oot', ansible_port: 22 }],
    ]),
    groups: new Map([
      ['web', ['b', 'a']],
      ['db', []],
    ]),
  };
  expect(text(tree)).toBe(`"all":
  "children":
    "db":
      "hosts": {}
    "web":
      "hosts":
        "a": {}
        "b": {}
  "hosts":
    "a":
      "ansible_port": 22
      "ansible_user": !unsafe "r\\"oot"
    "b": {}
`);
});

test('at the top: no all', () => {
  expect(text({ below: 'top', hosts: new Map(), groups: new Map([['web', ['a']]]) })).toBe(
    '"web":\n  "hosts":\n    "a": {}\n',
  );
  expect(text({ below: 'top', hosts: new Map(), groups: new Map() })).toBe('"all": {}\n');
  expect(text({ below: 'all', hosts: new Map(), groups: new Map() })).toBe('"all":\n  "children": {}\n');
});

test('any name and value reads back as itself, in the order of code points and in plain ASCII', () => {
  const word = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\u{1F511}', '\ufffd', '\ue000', 'a', '"', '\\', '\u2028', '\u0085'),
  );
  fc.assert(
    fc.property(fc.uniqueArray(word), fc.uniqueArray(word, { minLength: 1 }), word, (members, groups, value) => {
      const hosts = new Map(members.map((name) => [name, { value }]));
      const yaml = text({ below: 'all', hosts, groups: new Map(groups.map((name) => [name, members])) });
      expect(yaml).toMatch(/^[\n\x20-\x7e]*$/);
      const read = parse(yaml, { mapAsMap: true, logLevel: 'silent' }).get('all');
      const order = (names: string[]): string[] =>
        [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      expect([...read.get('children').keys()]).toEqual(order(groups));
      for (const name of groups)
        expect([...(read.get('children').get(name).get('hosts').keys() ?? [])]).toEqual(order(members));
      if (members.length > 0) expect([...read.get('hosts').keys()]).toEqual(order(members));
      for (const name of members) expect(read.get('hosts').get(name).get('value')).toBe(value);
    }),
  );
});

test('as data, a large fleet comes in pieces that make the same inventory, in order', () => {
  const names = Array.from({ length: 5_000 }, (_, index) => `n${(index * 7_919) % 5_000}`);
  const hosts = new Map(names.map((name) => [name, { ansible_user: `u-${name}` }]));
  const pieces = [...inventoryData({ below: 'all', hosts, groups: new Map([['web', names]]) })];
  const { all } = JSON.parse(pieces.join(''));
  const order = [...names].sort();
  expect(pieces.length).toBeLessThan(100);
  expect(Object.keys(all.hosts)).toEqual(order);
  expect(Object.keys(all.children.web.hosts)).toEqual(order);
  expect(all.hosts.n17).toEqual({ ansible_user: { __ansible_unsafe: 'u-n17' } });
});
