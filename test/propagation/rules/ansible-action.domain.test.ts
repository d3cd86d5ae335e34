import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MusterError } from '../../../domain/errors.ts';
import {
  addressOf,
  componentTree,
  HOST_KEY_ALIAS,
  knownHostsText,
  localTree,
  nodeTree,
} from '../../../domain/propagation/action-login.ts';
import { type ActionFacts, actionVariables, ansibleResult } from '../../../domain/propagation/ansible-action.ts';
import { readDefinition } from '../../../domain/propagation/read-definition.ts';
import { unsafeValues, variablesText } from '../../../domain/runs/unsafe-values.ts';

const FACTS: ActionFacts = {
  ...{ resource: 'web', action: 'run', plan: 'p', node: 'web.run', occurrence: 0, attempt: 1 },
  triggered_by: [{ node: 'db.run', outcome: 'changed' }],
};
const none = new Map<string, string>();
const code = (work: () => unknown): string | undefined => {
  try {
    work();
  } catch (error) {
    if (error instanceof MusterError) return error.code;
    throw error;
  }
  return undefined;
};

describe('variables of a playbook', () => {
  test('are the inputs, each text marked, with all of them in one object and the facts of the attempt', () => {
    const variables = actionVariables({ ip: '{{ 1 }}', port: 80, 'a-b': ['x'], none: null }, none, FACTS);
    const marked = { ip: { __ansible_unsafe: '{{ 1 }}' }, port: 80, none: null };
    expect(variables).toMatchObject({
      ...marked,
      resource_args: { ...marked, 'a-b': [{ __ansible_unsafe: 'x' }] },
      muster_action: { attempt: 1, triggered_by: [{ node: { __ansible_unsafe: 'db.run' } }] },
    });
    expect(Object.keys(variables)).not.toContain('a-b');
  });

  test('hold the values of secrets, marked as well', () => {
    const variables = actionVariables(
      { key: { secret: 'propagation-x', key: 'k' } },
      new Map([['key', '{{ s }}']]),
      FACTS,
    );
    expect(variables.key).toEqual({ __ansible_unsafe: '{{ s }}' });
  });

  test.each(['__ansible_unsafe', '__ansible_vault'])('are refused with a member %s, at any depth', (member) => {
    expect(code(() => actionVariables({ v: [{ a: { [member]: 'x' } }] }, none, FACTS))).toBe('unsafe_value');
  });

  test('never direct Ansible', () => {
    const variables = actionVariables({ ansible_connection: 'local', ansible_ssh_common_args: 'x' }, none, FACTS);
    expect(Object.keys(variables).sort()).toEqual(['muster_action', 'resource_args']);
  });

  test('no text of any inputs is left for Ansible to template', () => {
    const texts = (value: unknown): string[] => {
      if (typeof value === 'string') return [value];
      if (typeof value !== 'object' || value === null) return [];
      const members = Object.entries(value);
      const isMark = members.length === 1 && members[0]?.[0] === '__ansible_unsafe';
      return isMark && typeof members[0]?.[1] === 'string' ? [] : members.flatMap(([, member]) => texts(member));
    };
    const inputs = fc.dictionary(fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_-]{0,9}$/), fc.jsonValue());
    fc.assert(
      fc.property(inputs, (given) => {
        const text = variablesText(actionVariables(given, none, FACTS));
        expect(text.startsWith('\t{')).toBe(true);
        expect(texts(JSON.parse(text))).toEqual([]);
      }),
    );
  });

  test('a mark that data pretends to have is refused before anything reads the file', () => {
    expect(() => unsafeValues({ __ansible_unsafe: 'x' })).toThrow(RangeError);
    expect(() => unsafeValues([{ __ansible_vault: 'x' }])).toThrow(RangeError);
  });

  test.each(['ansible_host', 'ansible_ssh_common_args', 'muster_action', 'resource_args'])(
    'a definition with an input %s is refused',
    (input) => {
      const meta = { handler: 'ansible_playbook', input: { [input]: { schema: 'str' } } };
      expect(code(() => readDefinition(meta, ['actions/run.yaml'], 'web'))).toBe('validation_failed');
      const other = { handler: 'shell', input: { [input]: { schema: 'str' } } };
      expect(code(() => readDefinition(other, ['actions/run.sh'], 'web'))).toBeUndefined();
    },
  );
});

describe('the result of a playbook', () => {
  const sums = { hosts: 1, changed: 0, failures: 0, unreachable: 0 };
  test.each([
    [0, {}, 'ok', null, null],
    [0, { changed: 2 }, 'changed', null, null],
    [2, { changed: 2, failures: 1 }, 'failed', null, 'why'],
    [0, { failures: 1 }, 'failed', null, 'why'],
    [4, { unreachable: 1 }, 'error', 'unreachable', 'why'],
    [4, { failures: 1, unreachable: 1 }, 'error', 'unreachable', 'why'],
    [0, { hosts: 0 }, 'ok', null, 'No host ran any task'],
    [1, { hosts: 0 }, 'failed', null, 'why'],
    // Killed, or broken off: what was reached before does not count.
    [137, { changed: 3 }, 'failed', null, 'why'],
    [74, { changed: 3 }, 'error', 'disk_low', 'The results of its host could not be written'],
  ] as const)('of status %i with %j is %s', (status, given, outcome, reason, message) => {
    const why = status === 0 && !('failures' in given) ? null : 'why';
    expect(ansibleResult(status, { ...sums, ...given }, why)).toEqual({ outcome, code: reason, message });
  });

  test('is never read from a text, and only a run that ended well is a success', () => {
    const count = fc.nat({ max: 3 });
    const all = fc.record({ hosts: count, changed: count, failures: count, unreachable: count });
    fc.assert(
      fc.property(fc.nat({ max: 255 }), all, fc.string(), (status, given, why) => {
        const { outcome } = ansibleResult(status, given, why);
        expect(ansibleResult(status, given, null).outcome).toBe(outcome);
        const isGood = status === 0 && given.failures === 0 && given.unreachable === 0;
        expect(outcome === 'ok' || outcome === 'changed').toBe(isGood);
      }),
    );
  });
});

describe('the host of an action', () => {
  const rules = { allowLocalConnection: true };
  const transport = { user: 'root', hostKey: '', become: false };
  const nodeHost = (target: string, given: object = {}) =>
    [...nodeTree(target, { ...transport, ...given }, "/a/it's 1%", rules).hosts][0];

  test.each([
    ['10.0.0.5:2222', '10.0.0.5', '10.0.0.5', 2222],
    ['web.example.com:22', 'web.example.com', 'web.example.com', 22],
    ['fe80::1:22', 'target', 'fe80::1', 22],
  ])('of node %s is %s', (target, name, address, port) => {
    const [host, variables] = nodeHost(target) ?? [];
    expect([host, variables?.ansible_host, variables?.ansible_port]).toEqual([name, address, port]);
    expect(addressOf(target)).toEqual({ ip: address, port: String(port) });
  });

  test.each([
    ['-oProxyCommand=touch:22', {}],
    ['a b:22', {}],
    ['{{ x }}:22', {}],
    ['10.0.0.5:0', {}],
    ['10.0.0.5:22', { user: '-x' }],
    ['10.0.0.5:22', { user: '' }],
    ['10.0.0.5:22', { user: 'a;b' }],
  ])('%s with %j is refused', (target, given) => expect(code(() => nodeHost(target, given))).toBe('validation_failed'));

  test('of a node is checked strictly by its own key alone', () => {
    const [, variables] = nodeHost('10.0.0.5:22') ?? [];
    expect(variables?.ansible_host_key_checking).toBe(true);
    const words = String(variables?.ansible_ssh_args);
    expect(words).toMatch(/^-F \/dev\/null -o 'StrictHostKeyChecking=yes' -o 'UserKnownHostsFile=/);
    expect(words).toContain(`'UserKnownHostsFile="/a/it'\\''s 1%%"'`);
    expect(words).toContain(`HostKeyAlias=${HOST_KEY_ALIAS}`);
    expect(variables).not.toHaveProperty('ansible_become');
  });

  test('of a node becomes root by sudo where its transport says so', () =>
    expect(nodeHost('10.0.0.5:22', { become: true })?.[1]).toMatchObject({
      ansible_become: true,
      ansible_become_method: 'sudo',
    }));

  test('of a component is what it is in a session', () => {
    const tags = { ansible_host: '10.0.0.7', role: 'web', ansible_ssh_common_args: 'no' };
    const tree = componentTree({ id: 'x1', tags }, rules);
    expect([...tree.hosts]).toEqual([['x1', { ansible_host: '10.0.0.7' }]]);
    expect([...tree.groups]).toEqual([['role_web', ['x1']]]);
    expect(code(() => componentTree({ id: 'x1', tags: { ansible_port: 'x' } }, rules))).toBe('validation_failed');
    const local = { id: 'x1', tags: { ansible_connection: 'local' } };
    expect(code(() => componentTree(local, { allowLocalConnection: false }))).toBe('validation_failed');
  });

  test('is the machine of the worker, over no connection', () =>
    expect([...localTree().hosts]).toEqual([['localhost', { ansible_connection: 'local' }]]));

  const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH';
  test.each([
    [KEY, 1],
    [`${KEY} root@host`, 1],
    [`[127.0.0.1]:2222 ${KEY}\n# text\n${KEY}\r\n`, 2],
  ])('has the key %j', (given, keys) => expect(knownHostsText(given)).toBe(`${HOST_KEY_ALIAS} ${KEY}\n`.repeat(keys)));

  test.each(['', ' \n', '# text', 'ssh-ed25519', `@cert-authority * ${KEY}`, `${KEY}\nno key`, 'AAAA'])(
    'has no key %j',
    (given) => expect(code(() => knownHostsText(given))).toBe('validation_failed'),
  );
});
