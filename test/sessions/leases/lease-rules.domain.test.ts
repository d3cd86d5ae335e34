import { describe, expect, test } from '@jest/globals';
import { limitHosts, namesOf } from '../../../domain/components/inventory/inventory-tree.ts';
import { describeLeaseWait } from '../../../domain/sessions/lease-wait.ts';
import { graphName, listedHost } from '../../../drivers/inventory/ansible-hosts.ts';

describe('the message of a session that waits for components', () => {
  const holders = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ session: `s${index}`, components: 9 - index }));

  test.each([
    [1, 's0 (9)'],
    [3, 's0 (9), s1 (8), s2 (7)'],
    [5, 's0 (9), s1 (8), s2 (7), s3 (6), s4 (5)'],
    [6, 's0 (9), s1 (8), s2 (7), s3 (6), s4 (5), 1 more session'],
    [8, 's0 (9), s1 (8), s2 (7), s3 (6), s4 (5), 3 more sessions'],
  ])('names of %i sessions who has how many', (count, words) => {
    expect(describeLeaseWait(holders(count))).toMatch(new RegExp(`: ${words.replace(/[()]/g, '\\$&')}$`));
  });
});

describe('what the items of a plain limit are', () => {
  const tree = {
    below: 'all' as const,
    hosts: new Map([
      ['h1', {}],
      ['h2', {}],
    ]),
    groups: new Map([
      ['web', ['h2', 'h3']],
      ['empty', []],
    ]),
  };
  test.each([
    [['h1', 'h3'], { hosts: ['h1', 'h3'], absent: [], groups: [] }],
    [['h9', 'h1'], { hosts: ['h1'], absent: ['h9'], groups: [] }],
    [['web', 'h1'], { hosts: ['h1'], absent: [], groups: ['web'] }],
    [['empty'], { hosts: [], absent: [], groups: ['empty'] }],
    [['all', 'h9'], { hosts: [], absent: ['h9'], groups: ['all'] }],
    [['ungrouped'], { hosts: [], absent: [], groups: ['ungrouped'] }],
  ])('%j', (names, expected) => {
    expect(limitHosts(namesOf(tree), names)).toEqual(expected);
  });
});

describe('what Ansible prints', () => {
  test('hosts of a list, whatever they are called', () => {
    const lines = ['  hosts (3):', '    a', '    b-1.example', '    hosts (1):', '  hosts (0):'];
    expect(lines.map(listedHost)).toEqual([null, 'a', 'b-1.example', 'hosts (1):', null]);
  });

  test('names of hosts and groups at any depth', () => {
    const graph =
      '@all:\n  |--@ungrouped:\n  |  |--x-2\n  |--@g_1:\n  |  |--@sub:\n  |  |  |--deep.x\n  |  |--x-1\n  |--@empty:\n';
    const names = graph.split('\n').map(graphName);
    expect(names.flatMap(({ host }) => host ?? [])).toEqual(['x-2', 'deep.x', 'x-1']);
    expect(names.flatMap(({ group }) => group ?? [])).toEqual(['all', 'ungrouped', 'g_1', 'sub', 'empty']);
  });
});
