/** How ssh begins and ends a shell action at a target, and what its ends mean. */
import { describe, expect, test } from '@jest/globals';
import type { HostVariables } from '../../../domain/components/inventory/inventory-tree.ts';
import { HOST_KEY_ALIAS, nodeTree } from '../../../domain/propagation/action-login.ts';
import {
  beginWords,
  checksHostKeys,
  endWords,
  type LoginFiles,
  shellHost,
  targetFolder,
} from '../../../domain/propagation/remote-shell.ts';
import { resultOfBrokenTarget, targetEndOf } from '../../../domain/propagation/target-end-schema.ts';

const ATTEMPT = '11111111-2222-4333-8444-555555555555';
const FILES: LoginFiles = { keys: ['/run/own key'], knownHosts: null, checksHosts: true };

const hostOf = (variables: HostVariables, files: Partial<LoginFiles> = {}) =>
  shellHost({ below: 'all', hosts: new Map([['x1', variables]]), groups: new Map() }, { ...FILES, ...files });
const optionsOf = (words: readonly string[]) => words.filter((_word, index) => words[index - 1] === '-o');

describe('the words of ssh', () => {
  const transport = { user: 'deploy', hostKey: 'unused', become: true };

  test('log in at a node as its transport says, where its host key alone counts', () => {
    const tree = nodeTree('fe80::1:2222', transport, '/run/known 100%', { allowLocalConnection: false });
    const { ssh, become, python } = shellHost(tree, { ...FILES, knownHosts: '/run/known 100%' });
    expect(ssh.slice(-6)).toEqual(['-p', '2222', '-l', 'deploy', '--', 'fe80::1']);
    // No ssh_config of the machine adds keys, proxies or commands.
    expect(ssh.slice(0, 3)).toEqual(['ssh', '-F', '/dev/null']);
    expect({ become, python }).toEqual({ become: true, python: 'python3' });
    // The first value of an option counts.
    expect(optionsOf(ssh).slice(0, 4)).toEqual([
      'StrictHostKeyChecking=yes',
      'UserKnownHostsFile="/run/known 100%%"',
      'GlobalKnownHostsFile=/dev/null',
      `HostKeyAlias=${HOST_KEY_ALIAS}`,
    ]);
    expect(optionsOf(ssh)).toEqual(
      expect.arrayContaining(['BatchMode=yes', 'ControlPath=none', 'IdentityFile="/run/own key"']),
    );
  });

  test('log in at a component as its variables say, or as ssh does by itself', () => {
    expect(hostOf({}).ssh.slice(-2)).toEqual(['--', 'x1']);
    expect(hostOf({}).ssh).not.toContain('-F');
    const { ssh, python, become } = hostOf({
      ...{ ansible_host: '10.0.0.1', ansible_port: 2222, ansible_user: 'root' },
      ansible_python_interpreter: '/opt/python3',
    });
    expect(ssh.slice(-6)).toEqual(['-p', '2222', '-l', 'root', '--', '10.0.0.1']);
    expect({ python, become }).toEqual({ python: '/opt/python3', become: false });
  });

  test.each([
    [true, 'StrictHostKeyChecking=yes'],
    [false, 'StrictHostKeyChecking=no'],
  ])('know the hosts of the user where they have no file: checked %s', (checksHosts, option) => {
    const options = optionsOf(hostOf({}, { checksHosts }).ssh);
    expect(options[0]).toBe(option);
    expect(options.filter((word) => word.startsWith('UserKnownHostsFile'))).toEqual([]);
  });

  test('offer all keys in their order', () => {
    const options = optionsOf(hostOf({}, { keys: ['/a', '/b'] }).ssh);
    expect(options).toContain('IdentitiesOnly=yes');
    expect(options.filter((word) => word.startsWith('IdentityFile='))).toEqual([
      ...['IdentityFile="/a"', 'IdentityFile="/b"'],
    ]);
  });

  test('are none for a host whose tasks run on the machine of the worker', () => {
    expect(() => hostOf({ ansible_connection: 'local' })).toThrow(expect.objectContaining({ code: 'not_supported' }));
  });
});

describe('the command at a target', () => {
  const last = (words: readonly string[]) => words.at(-1) ?? '';

  test('names the attempt where it begins the action, and not where it ends it', () => {
    const host = hostOf({});
    expect(last(beginWords(host, ATTEMPT))).toMatch(`exec env MUSTER_ATTEMPT=${ATTEMPT} python3 -I -c '`);
    expect(last(endWords(host))).toMatch(/^exec python3 -I -c '/);
    expect(last(endWords(host))).not.toContain(ATTEMPT);
    expect(beginWords(host, ATTEMPT).slice(0, -1)).toEqual(endWords(host).slice(0, -1));
  });

  test('asks sudo, and nobody for a password, in both', () => {
    const host = { ...hostOf({}), become: true };
    expect(last(beginWords(host, ATTEMPT))).toMatch(/^exec sudo -n -H -- env MUSTER_ATTEMPT=/);
    expect(last(endWords(host))).toMatch(/^exec sudo -n -H -- python3 -I /);
  });

  test('has a folder of the attempt', () => {
    expect(targetFolder(ATTEMPT)).toBe(`/tmp/muster-${ATTEMPT}`);
  });
});

test.each([
  ['', true],
  ['[defaults]\nhost_key_checking = False\n', false],
  ['[defaults]\nhost_key_checking: no', false],
  ['[defaults]\n  host_key_checking=0  \n', false],
  ['[defaults]\n#host_key_checking = False\n', true],
  ['[defaults]\nhost_key_checking = True\n', true],
  ['[defaults]\nhost_key_checking = False ; for now\n', false],
  ['[defaults]\nhost_key_checking = Falsehood\n', true],
])('hosts are checked with the configuration %j: %s', (config, checks) => {
  expect(checksHostKeys(config)).toBe(checks);
});

describe('the end at a target', () => {
  test.each([
    [
      { end: 'exited', status: 255, left: false },
      { end: 'exited', status: 255 },
    ],
    [
      { end: 'lost', message: 'm' },
      { end: 'lost', message: 'm' },
    ],
    [{ end: 'exited', status: 256 }, null],
    [{ end: 'exited' }, null],
    [{ end: 'other', message: 'm' }, null],
    [null, null],
    ['exited', null],
  ])('%j is read as %j', (data, end) => {
    expect(targetEndOf(data)).toEqual(end);
  });

  const unreachable = { end: 'unreachable', message: 'no route' } as const;
  const refused = { end: 'refused', message: 'no sudo' } as const;
  const lost = { end: 'lost', message: 'reset' } as const;
  test.each([
    [unreachable, false, true, 'unreachable', 'The target is unreachable: no route'],
    [refused, false, true, null, 'The target did not begin the action: no sudo'],
    [null, false, true, null, 'The target did not begin the action'],
    [lost, true, true, 'unreachable', 'The connection to the target was lost: reset'],
    [lost, true, false, 'unreachable', 'The connection to the target was lost (not verified): reset'],
    [null, true, false, 'unreachable', 'The connection to the target was lost (not verified)'],
  ] as const)('%j, begun %s, gone %s: %s, %s', (end, begun, isGone, code, message) => {
    expect(resultOfBrokenTarget(end, begun, isGone)).toEqual({ outcome: 'error', code, message, verified: isGone });
  });
});
