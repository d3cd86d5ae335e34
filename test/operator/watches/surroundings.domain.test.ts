/** What loading takes from the environment and from the disk. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the text of a file has such names
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { durationOf } from '../../../domain/operator/duration.ts';
import { expandEnvironment } from '../../../domain/operator/environment-text.ts';
import { kindSettings } from '../../../domain/operator/kind-settings.ts';
import { controllerName, variableSuffix } from '../../../domain/operator/names.ts';
import { roleCandidates } from '../../../domain/operator/role-candidates.ts';
import { selects } from '../../../domain/operator/selector.ts';
import { HOME, load } from './entries.ts';

describe('the environment in the text', () => {
  const env = { A: 'va', A_1: 'va1', EMPTY: '', 'with-dash': 'vd', '5': 'five', $: 'dollar' };
  test.each([
    ['${A}', 'va'],
    ['$A', 'va'],
    ['$A_1-$A', 'va1-va'],
    ['$A.b', 'va.b'],
    ['${with-dash}', 'vd'],
    ['${NONE}', '${NONE}'],
    ['$NONE', '${NONE}'],
    ['$EMPTY|${EMPTY}', '|'],
    ['$5x', 'fivex'],
    ['$6x', '${6}x'],
    ['$$A', 'dollarA'],
    ['${}', ''],
    ['a${A', 'aA'],
    ['a${', 'a'],
    ['$', '$'],
    ['$ A', '$ A'],
    ['$/x', '$/x'],
    ['"$é"', '"$é"'],
    ['${*}', '${*}'],
    ['\\$A', '\\va'],
    ['$constructor ${toString}', '${constructor} ${toString}'],
  ])('%s becomes %s', (text, expected) => {
    expect(expandEnvironment(text, env)).toBe(expected);
  });

  test('$$ without a variable of that name', () => {
    expect(expandEnvironment('a$$b', {})).toBe('a${$}b');
  });

  test('text without a dollar sign stays', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const plain = text.replaceAll('$', '');
        return expandEnvironment(plain, { A: 'x' }) === plain;
      }),
    );
  });

  test('values come in before the YAML is read', () => {
    const loaded = load('- {version: v1, kind: "$KIND", playbook: ${PB}, manageStatus: $MANAGE}', {
      env: { KIND: 'Db', PB: 'pb.yml', MANAGE: 'no' },
    });
    expect(loaded.errors).toEqual([]);
    expect(loaded.entries).toMatchObject([{ kind: 'Db', playbook: `${HOME}/pb.yml`, manage_status: false }]);
  });
});

describe('durations', () => {
  test.each([
    ['0', 0],
    ['-0', 0],
    ['0s', 0],
    ['30s', 30],
    ['1h30m', 5_400],
    ['1.5h', 5_400],
    ['.5s', 0.5],
    ['1.s', 1],
    ['-5s', -5],
    ['+5s', 5],
    ['1ns', 1e-9],
    ['1us', 1e-6],
    ['1µs', 1e-6],
    ['1μs', 1e-6],
    ['100ms', 0.1],
    ['9223372036854775807ns', 9_223_372_036.854_776],
    ['-9223372036854775808ns', -9_223_372_036.854_776],
    ['0.000000000000000000000000000000001h', 0],
  ])('%s is %d s', (text, seconds) => {
    expect(durationOf(text)).toEqual({ seconds });
  });

  test.each([
    ['', 'time: invalid duration ""'],
    ['3', 'time: missing unit in duration "3"'],
    ['30', 'time: missing unit in duration "30"'],
    ['3x', 'time: unknown unit "x" in duration "3x"'],
    ['1d', 'time: unknown unit "d" in duration "1d"'],
    ['soon', 'time: invalid duration "soon"'],
    ['-', 'time: invalid duration "-"'],
    ['.', 'time: invalid duration "."'],
    ['.s', 'time: invalid duration ".s"'],
    ['1h-5m', 'time: unknown unit "h-" in duration "1h-5m"'],
    ['1 s', 'time: unknown unit " s" in duration "1 s"'],
    ['9223372036854775808ns', 'time: invalid duration "9223372036854775808ns"'],
    ['2562048h', 'time: invalid duration "2562048h"'],
    ['1constructor', 'time: unknown unit "constructor" in duration "1constructor"'],
  ])('%j is none', (text, mistake) => {
    expect(durationOf(text)).toEqual({ mistake });
  });

  test('a text of any length is judged at once, and a mistake stays short', () => {
    const long = durationOf('9'.repeat(1_000_000));
    expect('mistake' in long && long.mistake.length).toBeLessThan(200);
    fc.assert(
      fc.property(fc.stringMatching(/^[-+]?[0-9.]{0,30}[a-zµ]{0,3}[0-9.]{0,5}[a-z]{0,2}$/), (text) => {
        const duration = durationOf(text);
        if ('mistake' in duration) expect(duration.mistake).toMatch(/^time: /);
        else expect(Math.abs(duration.seconds)).toBeLessThanOrEqual(2 ** 63 / 1e9);
      }),
    );
  });

  test('whole units come back', () => {
    const amount = fc.nat(10_000);
    fc.assert(
      fc.property(amount, amount, amount, (h, m, s) => {
        expect(durationOf(`${h}h${m}m${s}s`)).toEqual({ seconds: h * 3_600 + m * 60 + s });
      }),
    );
  });
});

describe('values of one kind', () => {
  const gvk = { group: 'cache.example.com', kind: 'Memcached' };
  const defaults = { maxConcurrentReconciles: 4, verbosity: 2 };
  const [max, worker, verbosity] = ['MAX_CONCURRENT_RECONCILES', 'WORKER', 'ANSIBLE_VERBOSITY'].map(
    (name) => `${name}_MEMCACHED_CACHE_EXAMPLE_COM`,
  ) as [string, string, string];

  test.each([
    [{}, 4, 2, 0],
    [{ [max]: '7', [verbosity]: '0' }, 7, 0, 0],
    [{ [worker]: '3' }, 3, 2, 0],
    [{ [max]: '7', [worker]: '3' }, 7, 2, 0],
    [{ [max]: 'many', [worker]: '3' }, 4, 2, 1],
    [{ [max]: '0', [verbosity]: '8' }, 4, 2, 2],
    [{ [max]: '-1', [verbosity]: '-1' }, 4, 2, 2],
    [{ [max]: '', [verbosity]: '2147483647' }, 4, 2, 2],
    [{ [max]: '99999999999999999999', [verbosity]: '7' }, 4, 7, 1],
  ])('%j', (env, maxConcurrentReconciles, v, mistakes) => {
    const { settings, unusable } = kindSettings(gvk, env, defaults);
    expect(settings).toEqual({ maxConcurrentReconciles, verbosity: v });
    expect(unusable).toHaveLength(mistakes);
  });

  test('a value that cannot be used is a warning of its entry and never stops a start', () => {
    const { errors, warnings, entries } = load('- {version: v1, kind: Db, playbook: pb.yml}', {
      env: { MAX_CONCURRENT_RECONCILES_DB_: 'x', ANSIBLE_VERBOSITY_DB_: '3' },
    });
    expect(errors).toEqual([]);
    expect(warnings).toMatchObject([{ code: 'unusable_setting', entry: 1 }]);
    expect(entries).toMatchObject([{ max_concurrent_reconciles: 4, verbosity: 3 }]);
  });

  test('names', () => {
    expect(variableSuffix({ group: 'cert-manager.io', kind: 'Issuer' })).toBe('ISSUER_CERT-MANAGER_IO');
    expect(variableSuffix({ group: '', kind: 'Secret' })).toBe('SECRET_');
    const one = { group: 'a.io', version: 'v1', kind: 'Db' };
    const other = { group: 'b.io', version: 'v1', kind: 'Db' };
    expect(controllerName(one, [one, { ...one, version: 'v2' }])).toBe('db-v1-controller');
    expect([controllerName(one, [one, other]), controllerName(other, [one, other])]).toEqual([
      'db-a.io-v1-controller',
      'db-b.io-v1-controller',
    ]);
  });
});

describe('roles', () => {
  test.each([
    ['/opt/role', {}, ['/opt/role']],
    ['web', {}, [`${HOME}/roles/web`]],
    [
      'web',
      { ANSIBLE_ROLES_PATH: '/a:b/' },
      ['/a/web', '/a/roles/web', `${HOME}/b/web`, `${HOME}/b/roles/web`, `${HOME}/roles/web`],
    ],
    [
      'ns.coll.web',
      { HOME: '/root' },
      [
        '/usr/share/ansible/collections/ansible_collections/ns/coll/roles/web',
        '/root/.ansible/collections/ansible_collections/ns/coll/roles/web',
        `${HOME}/roles/ns.coll.web`,
      ],
    ],
    [
      'ns.coll.web',
      { ANSIBLE_COLLECTIONS_PATH: '/c', ANSIBLE_ROLES_PATH: '/r' },
      [
        '/c/ansible_collections/ns/coll/roles/web',
        '/r/ns.coll.web',
        '/r/roles/ns.coll.web',
        `${HOME}/roles/ns.coll.web`,
      ],
    ],
    ['a.b.c.d', {}, [`${HOME}/roles/a.b.c.d`]],
    ['a..c', {}, [`${HOME}/roles/a..c`]],
  ])('%s with %j', (role, env, expected) => {
    expect(roleCandidates(role, { home: HOME, env })).toEqual(expected);
  });

  test('the first that exists is taken, and all that were looked at are named', () => {
    const env = { ANSIBLE_ROLES_PATH: '/a:/b' };
    const entry = '- {version: v1, kind: A, role: web}';
    const found = load(entry, { env, paths: ['/b/web', '/a/roles/web'] });
    expect(found.entries[0]?.role).toBe('/a/roles/web');
    const missing = load(entry, { env, paths: [] });
    expect(missing.entries[0]?.role).toBe('web');
    expect(missing.errors[0]?.looked_at).toEqual([
      '/a/web',
      '/a/roles/web',
      '/b/web',
      '/b/roles/web',
      `${HOME}/roles/web`,
    ]);
  });
});

describe('a selector', () => {
  const labels = { app: 'web', tier: 'front' };
  const by = (key: string, operator: string, ...values: string[]) => ({
    matchLabels: {},
    matchExpressions: [{ key, operator, values }],
  });
  test.each([
    [{ matchLabels: { app: 'web' }, matchExpressions: [] }, true],
    [{ matchLabels: { app: 'web', tier: 'back' }, matchExpressions: [] }, false],
    [by('app', 'In', 'db', 'web'), true],
    [by('none', 'In', ''), false],
    [by('app', 'NotIn', 'web'), false],
    [by('none', 'NotIn', 'web'), true],
    [by('app', 'Exists'), true],
    [by('none', 'Exists'), false],
    [by('app', 'DoesNotExist'), false],
    [by('constructor', 'DoesNotExist'), true],
    [by('app', 'Is', 'web'), false],
    [null, true],
  ])('%j selects: %s', (selector, expected) => {
    expect(selects(selector, labels)).toBe(expected);
  });
});
