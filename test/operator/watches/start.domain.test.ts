/** Flags, environment and name of an operator. */
import { describe, expect, test } from '@jest/globals';
import { operatorEnvironment } from '../../../domain/operator/environment.ts';
import { FLAGS } from '../../../domain/operator/flags.ts';
import { operatorName } from '../../../domain/operator/operator-name.ts';
import { readFlags } from '../../../domain/operator/read-flags.ts';

const mistakes = (...args: string[]) => readFlags(args).mistakes;

describe('flags', () => {
  test('have the defaults of the reference', () => {
    const { flags, mistakes: wrong } = readFlags([]);
    expect(wrong).toEqual([]);
    expect(flags).toMatchObject({
      'watches-file': './watches.yaml',
      'reconcile-period': '10h0m0s',
      'ansible-verbosity': 2,
      'ansible-log-events': 'tasks',
      'inject-owner-ref': true,
      'proxy-port': 8888,
      'metrics-bind-address': ':8443',
      'health-probe-bind-address': ':6789',
      'keep-reconciles': 50,
      'user-metrics-port': 5050,
      'resync-on-start': 'stale',
    });
    expect(flags['max-concurrent-reconciles']).toBeUndefined();
  });

  test('follow the grammar of Go', () => {
    const { flags, mistakes: wrong } = readFlags([
      ...[
        '--watches-file=/w.yaml',
        '-ansible-verbosity',
        '4',
        '--leader-elect',
        '--inject-owner-ref=F',
        '-mark-unsafe=1',
      ],
      ...['--ansible-args', '--forks=3', '--reconcile-period=1m', '--zap-log-level=debug'],
    ]);
    expect(wrong).toEqual([]);
    expect(flags).toMatchObject({
      'watches-file': '/w.yaml',
      'ansible-verbosity': 4,
      'leader-elect': true,
      'inject-owner-ref': false,
      'mark-unsafe': true,
      'zap-log-level': 'debug',
      'ansible-args': '--forks=3',
      'reconcile-period': '1m',
    });
  });

  test('an older name sets the newer flag; both are refused with exit status 1', () => {
    expect(readFlags(['--metrics-addr=:1', '--enable-leader-election']).flags).toMatchObject({
      'metrics-bind-address': ':1',
      'leader-elect': true,
    });
    expect(mistakes('--metrics-addr=:1', '--metrics-bind-address=:2')).toMatchObject([{ exit: 1 }]);
    expect(mistakes('--leader-elect', '--enable-leader-election')).toMatchObject([{ exit: 1 }]);
  });

  test.each([
    ['--wathces-file=x', 'unknown flag --wathces-file; did you mean --watches-file?'],
    ['--constructor=x', 'unknown flag --constructor'],
    ['run', 'unexpected argument "run"'],
    ['--', 'unexpected argument "--"'],
    ['--proxy-port', '--proxy-port needs a value'],
    ['--proxy-port=70000', '--proxy-port: "70000" is no integer from 0 to 65535'],
    ['--proxy-port=x', '--proxy-port: "x" is no integer from 0 to 65535'],
    ['--keep-reconciles=101', '--keep-reconciles: "101" is no integer from 1 to 100'],
    ['--ansible-verbosity=8', '--ansible-verbosity: "8" is no integer from 0 to 7'],
    ['--mark-unsafe=yes', '--mark-unsafe: "yes" is no boolean'],
    ['--reconcile-period=1d', '--reconcile-period: time: unknown unit "d" in duration "1d"'],
    ['--resync-on-start=never', '--resync-on-start: "never" is not stale or always'],
    ['--metrics-require-rbac', '--metrics-require-rbac needs --metrics-secure'],
  ])('%s is a usage error', (arg, message) => {
    expect(mistakes(arg)).toEqual([{ message, exit: 2, code: 'usage' }]);
  });

  test.each(['--event-transport=socket'])('%s is not built, and says so', (arg) => {
    expect(mistakes(arg)).toMatchObject([{ exit: 2, code: 'not_supported' }]);
  });

  test('all mistakes are told', () => {
    expect(mistakes('--a', '--proxy-port=x', '--mark-unsafe=y')).toHaveLength(3);
  });

  test('every declared default is within its range and words', () => {
    const args = Object.entries(FLAGS).flatMap(([name, declared]) =>
      declared.default === undefined || 'aliasOf' in declared ? [] : [`--${name}=${declared.default}`],
    );
    expect(mistakes(...args)).toEqual([]);
  });
});

describe('the environment', () => {
  test.each([
    [undefined, null],
    ['', null],
    [' , ', null],
    ['a', ['a']],
    [' a, b,,a ', ['a', 'b']],
  ])('WATCH_NAMESPACE %j watches %j', (text, namespaces) => {
    expect(operatorEnvironment({ WATCH_NAMESPACE: text }).environment.namespaces).toEqual(namespaces);
  });

  test('words', () => {
    const { environment, mistakes: wrong } = operatorEnvironment({
      ANSIBLE_DEBUG_LOGS: 'T',
      ANSIBLE_VERBOSITY: '3',
      OPERATOR_NAME: 'old',
      MUSTER_ANSIBLE_RUNNER: 'bin/ansible-runner',
    });
    expect(environment).toMatchObject({ debugLogs: true, logVerbosity: 3, operatorName: 'old' });
    expect(wrong).toEqual(['MUSTER_ANSIBLE_RUNNER: must be an absolute path']);
    expect(operatorEnvironment({ ANSIBLE_DEBUG_LOGS: 'yes', ANSIBLE_VERBOSITY: '-1' })).toMatchObject({
      environment: { debugLogs: false, logVerbosity: 0 },
      mistakes: [],
    });
  });
});

describe('the name', () => {
  const sources = {
    flag: undefined,
    electionId: undefined,
    variable: undefined,
    homeDigest: '0123456789abcdef'.repeat(4),
    podNamespace: null,
  };
  test.each([
    [{}, '0123456789ab'],
    [{ podNamespace: 'ns1' }, 'ns1-0123456789ab'],
    [{ variable: 'v' }, 'v'],
    [{ electionId: 'e', variable: 'v' }, 'e'],
    [{ flag: 'f', electionId: 'e', variable: 'v', podNamespace: 'ns1' }, 'f'],
  ])('%j', (over, name) => expect(operatorName({ ...sources, ...over })).toEqual({ name }));

  test.each(['A', 'a_b', 'x'.repeat(64), 'a/b'])('%s is refused', (flag) => {
    expect(operatorName({ ...sources, flag })).toEqual({
      mistake: expect.stringContaining('is no name of an operator'),
    });
  });
});
