/** Names of resources, addresses, versions, mappings, references to secrets. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseAddress, renderAddress } from '../../../domain/propagation/address.ts';
import { type ConnectableInput, checkPair, pairsOf, replaces } from '../../../domain/propagation/mapping.ts';
import { isActionName, isResourceName, resourceName } from '../../../domain/propagation/resource-name.ts';
import { secretReference } from '../../../domain/propagation/secret-reference.ts';
import { compareVersions, highestVersion, parseSpec } from '../../../domain/propagation/version-spec.ts';

const refusal = (code: string) => expect.objectContaining({ code });

describe('names', () => {
  test.each(['a', '_', '7', 'rmq.1', 'site/rack-1/node', 'a'.repeat(253)])('%s can be a resource', (name) => {
    expect(resourceName(name)).toBe(name);
  });

  test.each([
    '',
    '.a',
    '-a',
    '/a',
    'a/',
    'a//b',
    'a/../b',
    'a/.',
    'a#0',
    'a~',
    'a:b',
    'a b',
    'ä',
    'a'.repeat(254),
    'a\n',
  ])('%j cannot be a resource', (name) => {
    expect(isResourceName(name)).toBe(false);
    expect(() => resourceName(name)).toThrow(refusal('validation_failed'));
  });

  test('an action has at most 64 characters', () => {
    expect([isActionName('a'.repeat(64)), isActionName('a'.repeat(65)), isActionName('a.b')]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('a version', () => {
  test('comes before the next, as semver orders them', () => {
    const order = [
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
      '1.0.1',
      '1.2.0',
      '1.10.0',
      '2.0.0',
    ];
    for (const [index, version] of order.entries()) {
      for (const [other, against] of order.entries()) {
        expect(Math.sign(compareVersions(version, against))).toBe(Math.sign(index - other));
      }
    }
  });

  test.each([
    ['node', '2.0.0'],
    ['node:1.0.0', '1.0.0'],
    ['node:==1.0.0', '1.0.0'],
    ['node:>=1.0.0', '2.0.0'],
    ['node:>1.10.0', '2.0.0'],
    ['node:<=1.10.0', '1.10.0'],
    ['node:<1.10.0', '1.9.0'],
    ['node:>2.0.0', null],
    ['node:3.0.0', null],
  ])('%s is %s of 1.0.0, 1.9.0, 1.10.0 and 2.0.0', (spec, version) => {
    expect(highestVersion(['1.10.0', '1.0.0', '2.0.0', '1.9.0'], parseSpec(spec).version)).toBe(version);
  });

  test('may name its repository', () => {
    expect(parseSpec('muster/node:>=1.0.0')).toEqual({
      repository: 'muster',
      name: 'node',
      version: { op: '>=', version: '1.0.0' },
    });
    expect(parseSpec('node')).toEqual({ repository: null, name: 'node', version: null });
  });

  test.each([
    '',
    '/etc/node',
    './node',
    '../node',
    'node.yaml',
    'a/b/c',
    'node:',
    'node:1',
    'node:>=x',
    'node:~1.0.0',
    'a b',
    '/:1.0.0',
  ])('%j is no spec', (spec) => {
    expect(() => parseSpec(spec)).toThrow(refusal('invalid_spec'));
  });

  test('never loops or throws anything else', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          parseSpec(text);
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_spec' });
        }
      }),
    );
  });
});

describe('an address', () => {
  test.each([
    ['ip', 'ip'],
    ['env:HOST', 'env:HOST|_single'],
    ['env:a=b', 'env:a=b|_single'],
  ])('%s is written %s', (text, written) => {
    expect(renderAddress(parseAddress(text, 'mapping'))).toBe(written);
  });

  test('with a tag is not supported', () => {
    expect(() => parseAddress('servers:ip|s1', 'mapping')).toThrow(refusal('not_supported'));
  });

  test.each(['', ':a', 'a:', 'a:b:c', 'a b', '1a'])('%j is none', (text) => {
    expect(() => parseAddress(text, 'mapping')).toThrow(refusal('validation_failed'));
  });
});

describe('a mapping', () => {
  test('is a list of names, or a map to one or more addresses', () => {
    expect(pairsOf(['ip', 'port'])).toEqual([
      { from: 'ip', to: { input: 'ip', key: null } },
      { from: 'port', to: { input: 'port', key: null } },
    ]);
    expect(pairsOf({ ip: ['host', 'env:HOST', 'host'], port: 'p' })).toEqual([
      { from: 'ip', to: { input: 'host', key: null } },
      { from: 'ip', to: { input: 'env', key: 'HOST' } },
      { from: 'port', to: { input: 'p', key: null } },
    ]);
    expect(pairsOf([])).toEqual([]);
  });

  test('must be there: guessing is not supported', () => {
    expect(() => pairsOf(undefined)).toThrow(refusal('not_supported'));
  });

  const input = (kind: ConnectableInput['kind'], secret = false): ConnectableInput => ({ kind, secret });
  const [whole, member] = [
    { from: 'a', to: { input: 'b', key: null } },
    { from: 'a', to: { input: 'b', key: 'k' } },
  ];

  test.each([
    ['a value into a value', whole, input('simple'), input('simple')],
    ['a value into a list', whole, input('simple'), input('list')],
    ['a list into a list', whole, input('list'), input('list')],
    ['a value into a member of an object', member, input('simple'), input('hash')],
    ['an object into an object', whole, input('hash'), input('hash')],
    ['a secret into a secret', whole, input('simple', true), input('simple', true)],
  ])('may lead %s', (_what, pair, emitter, receiver) => {
    expect(() => checkPair(pair, emitter, receiver)).not.toThrow();
  });

  test.each([
    ['into a list of objects', 'not_supported', whole, input('hash'), input('list_hash')],
    ['into a member of a value', 'validation_failed', member, input('simple'), input('simple')],
    ['a value into a whole object', 'validation_failed', whole, input('simple'), input('hash')],
    ['a secret into a plain input', 'secret_by_reference', whole, input('simple', true), input('simple')],
    ['a plain value into a secret', 'secret_by_reference', whole, input('simple'), input('simple', true)],
  ])('may not lead %s: %s', (_what, code, pair, emitter, receiver) => {
    expect(() => checkPair(pair, emitter, receiver)).toThrow(refusal(code));
  });

  test.each([
    ['a value has one connection', 'simple', null, null, true],
    ['a list has any number', 'list', null, null, false],
    ['a member of an object has one', 'hash', 'k', 'k', true],
    ['other members stay', 'hash', 'k', 'l', false],
    ['the whole object takes the place of its members', 'hash', null, 'k', true],
    ['a member takes the place of the whole object', 'hash', 'k', null, true],
  ] as const)('%s', (_rule, kind, added, old, expected) => {
    expect(replaces(kind, { input: 'i', key: added }, { input: 'i', key: old })).toBe(expected);
    expect(replaces(kind, { input: 'i', key: added }, { input: 'j', key: old })).toBe(false);
  });
});

describe('a secret input', () => {
  test('takes a reference to a secret whose name begins with propagation-, or null', () => {
    const reference = { secret: 'propagation-db', key: 'password' };
    expect(secretReference(reference, 'key')).toEqual(reference);
    expect(secretReference(null, 'key')).toBeNull();
  });

  test.each([
    ['hunter2'],
    [{ secret: 'propagation-db' }],
    [{ secret: 'propagation-db', key: 'k', more: 1 }],
    [''],
    [[]],
  ])('refuses the plain value %j', (value) => {
    expect(() => secretReference(value, 'key')).toThrow(refusal('secret_by_reference'));
  });

  test.each([
    'muster-ssh',
    'vcs-user-credentials',
    'propagation-',
    'propagation-../x',
    'Propagation-a',
    ' propagation-a',
  ])('refuses the name %j', (secret) => {
    expect(() => secretReference({ secret, key: 'k' }, 'key')).toThrow(refusal('secret_not_allowed'));
  });
});
