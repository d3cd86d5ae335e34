import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isPlainHostName } from '../../domain/components/host-names.ts';
import { componentInventory, groupOfTag, leftOutWarnings } from '../../domain/components/inventory/inventory.ts';
import { type InventoryTree, namesOf, restrictTo } from '../../domain/components/inventory/inventory-tree.ts';

const countHosts = (tree: InventoryTree) => namesOf(tree).hosts.size;
const rules = { allowLocalConnection: true };
const inventory = (components: Record<string, Record<string, string>>, given = rules) =>
  componentInventory(
    Object.entries(components).map(([id, tags]) => ({ id, tags })),
    given,
  );

test('components become hosts, tags groups, named tags variables', () => {
  const tree = inventory({
    x3000c0s1b0n0: { role: 'web', 'data-centre': 'fra 1', ansible_host: '10.0.0.1', ansible_port: '2222' },
    node2: { role: 'web', ansible_ssh_common_args: '-o ProxyCommand=touch', ansible_become_pass: 'x' },
    node3: {},
  });
  expect(tree.hosts).toEqual(
    new Map<string, object>([
      ['x3000c0s1b0n0', { ansible_host: '10.0.0.1', ansible_port: 2222 }],
      ['node2', {}],
      ['node3', {}],
    ]),
  );
  expect(tree.groups).toEqual(
    new Map([
      ['role_web', ['x3000c0s1b0n0', 'node2']],
      ['data_centre_fra_1', ['x3000c0s1b0n0']],
    ]),
  );
  expect(tree.leftOut).toEqual([]);
});

test.each([
  ['x[0:3]'],
  ['h:22'],
  ['a,b'],
  ['a b'],
  ['!a'],
  ['&a'],
  ['~a'],
  ['*'],
  ['@a'],
  ['-a'],
  ['a-'],
  ['.a'],
  ['a.'],
  [''],
  ['fe80::1'],
  ['{{ 1 }}'],
  ['a/b'],
  ['../a'],
  ['a\n'],
  ['ä'],
  ['all'],
  ['ungrouped'],
])('id %j is left out with its reason', (id) => {
  const tree = inventory({ [id]: { role: 'web' }, other: { role: 'db' } });
  expect([...tree.hosts.keys()]).toEqual(['other']);
  expect([...tree.groups.keys()]).toEqual(['role_db']);
  expect(tree.leftOut).toEqual([{ id, reason: expect.stringMatching(/name|group/), groups: ['role_web'] }]);
});

test('an id that is a group is left out, of its groups too', () => {
  const tree = inventory({ role_web: { role: 'db' }, b: { role: 'web' }, c: { role: 'db' } });
  expect([...tree.hosts.keys()]).toEqual(['b', 'c']);
  expect(tree.groups.get('role_db')).toEqual(['c']);
  expect(leftOutWarnings(tree.leftOut, '')).toEqual([
    "Component 'role_web' is left out of the inventory: a group of the inventory has this name.",
  ]);
});

test('names of the language are plain names', () => {
  const tree = componentInventory([{ id: '__proto__', tags: { ['__proto__']: 'x', constructor: 'y' } }], rules);
  expect([...tree.hosts.keys()]).toEqual(['__proto__']);
  expect([...tree.groups.keys()]).toContain('constructor_y');
});

describe('values of variables', () => {
  test.each([
    ['ansible_host', 'node1.example.com'],
    ['ansible_host', '10.0.0.1'],
    ['ansible_host', 'fe80::1'],
    ['ansible_host', 'fe80::1%eth0'],
    ['ansible_port', '1'],
    ['ansible_port', '65535'],
    ['ansible_user', 'root'],
    ['ansible_user', 'ada.l-x@corp'],
    ['ansible_connection', 'ssh'],
    ['ansible_connection', 'local'],
    ['ansible_python_interpreter', '/usr/bin/python3.11'],
    ['ansible_python_interpreter', '/usr/bin/env python3'],
    ['ansible_python_interpreter', '/bin/env python3.11'],
  ])('%s may be %s', (name, value) => {
    const variables = inventory({ a: { [name]: value } }).hosts.get('a');
    expect(variables).toEqual({ [name]: name === 'ansible_port' ? Number(value) : value });
  });

  test('a path of an interpreter with blanks is one word of a shell', () => {
    const variables = inventory({ a: { ansible_python_interpreter: '/opt/my  python/bin/python3' } }).hosts.get('a');
    expect(variables).toEqual({ ansible_python_interpreter: "'/opt/my  python/bin/python3'" });
  });

  test.each([
    ['ansible_host', "{{ lookup('pipe','touch x') }}"],
    ['ansible_host', '-oProxyCommand=x'],
    ['ansible_host', 'a b'],
    ['ansible_host', 'a\nb'],
    ['ansible_host', '[fe80::1]:22'],
    ['ansible_port', '0'],
    ['ansible_port', '65536'],
    ['ansible_port', '22x'],
    ['ansible_port', '2e1'],
    ['ansible_port', ' 22'],
    ['ansible_user', '-x'],
    ['ansible_user', 'a b'],
    ['ansible_user', '{{ x }}'],
    ['ansible_connection', 'docker'],
    ['ansible_connection', 'Local'],
    ['ansible_python_interpreter', 'python3'],
    ['ansible_python_interpreter', '/usr/bin/env'],
    ['ansible_python_interpreter', '/usr/bin/env -S python3'],
    ['ansible_python_interpreter', '/usr/bin/env sh'],
    ['ansible_python_interpreter', '/usr/bin/env python3 -c x'],
    ['ansible_python_interpreter', '/opt/python '],
    ['ansible_python_interpreter', "/opt/my' touch y '/python"],
    ['ansible_python_interpreter', '/opt/my\\ python'],
    ['ansible_python_interpreter', '/opt/my\npython'],
    ['ansible_python_interpreter', '/opt/my $(touch y)'],
    ['ansible_python_interpreter', '/x;touch y'],
    ['ansible_python_interpreter', '/{{ x }}'],
  ])('%s may not be %j, and the host is left out with the name of the tag', (name, value) => {
    const tree = inventory({ a: { [name]: value, role: 'web' } });
    expect(countHosts(tree)).toBe(0);
    expect(tree.leftOut).toEqual([{ id: 'a', reason: expect.stringContaining(name), groups: ['role_web'] }]);
  });

  test('a local connection is refused where it is not allowed', () => {
    const tree = inventory(
      { a: { ansible_connection: 'local' }, b: { ansible_connection: 'ssh' } },
      { allowLocalConnection: false },
    );
    expect([...tree.hosts.keys()]).toEqual(['b']);
    expect(tree.leftOut[0]?.reason).toContain('MUSTER_ALLOW_LOCAL_CONNECTION');
  });
});

test.each([
  ['a-b', 'c.d', 'a_b_c_d'],
  ['k', '\u{1F511}', 'k__'],
  ['k', '', 'k_'],
  ['1a', 'ä', '1a__'],
])('tag %s=%s makes group %s', (key, value, group) => expect(groupOfTag(key, value)).toBe(group));

const bad = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `bad ${index}`, reason: 'r', groups: [`rack_${index}`] }));

test.each([
  ['', 3],
  ['all', 3],
  ['*', 3],
  ['web*', 0],
  ['bad*', 3],
  ['bad 1', 1],
  ['web1,bad 1', 1],
  ['rack_2', 1],
  ['rack_2[0:1]', 1],
  ['rack_[12]', 3],
  ['web:&rack_1', 1],
  ['~bad (0|1)', 3],
  ['!bad 1', 3],
  ['web1,!bad 1', 0],
  ['x[1:3],y', 0],
])('limit %j has warnings of what it could mean, and of nothing else of the fleet', (limit, count) => {
  expect(leftOutWarnings(bad(3), limit)).toHaveLength(count);
});

test('at most 20 warnings name components', () => {
  const warnings = leftOutWarnings(bad(25), '');
  expect(warnings).toHaveLength(21);
  expect(warnings.at(-1)).toBe('5 more components are left out of the inventory.');
});

describe('an inventory of just some hosts', () => {
  const tree = inventory({ a: { role: 'web' }, b: { role: 'db' }, c: {} });
  test('holds them and their groups', () => {
    const part = restrictTo(tree, ['a', 'c']);
    expect([...part.hosts.keys()]).toEqual(['a', 'c']);
    expect([...part.groups]).toEqual([['role_web', ['a']]]);
    expect(countHosts(part)).toBe(2);
  });
  test('is the whole one when a name is no host', () => {
    expect(restrictTo(tree, ['a', 'role_db'])).toBe(tree);
  });
});

test('whatever the components are: hosts and groups are plain names, no name is both, and each component is a host or left out', () => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom('a', 'b', 'a_b', 'all', 'x[0:3]', '__proto__', 'role_web', 'role', 'web'),
  );
  const component = fc.record({ id: word, tags: fc.dictionary(word, word) });
  fc.assert(
    fc.property(fc.uniqueArray(component, { selector: ({ id }) => id }), (components) => {
      const { hosts, groups, leftOut } = componentInventory(components, rules);
      for (const id of hosts.keys()) expect(isPlainHostName(id) && !groups.has(id)).toBe(true);
      for (const [name, members] of groups) {
        expect(name).toMatch(/^[A-Za-z0-9_]+$/);
        for (const id of members) expect(hosts.has(id)).toBe(true);
      }
      expect(hosts.size + leftOut.length).toBe(components.length);
    }),
  );
});
