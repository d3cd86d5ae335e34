/** Hostlist expressions: names, mistakes with their place, limits, and folding. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { foldHostlist, HOSTLIST_NAMES, readHostlist } from '../../domain/components/hostlist.ts';
import { byNaturalOrder, inNaturalOrder } from '../../domain/components/natural-order.ts';
import { isMusterError } from '../../domain/errors.ts';

const namesOf = (text: string) => readHostlist(text).names();

/** The code and the place of the refusal. */
function refusalOf(text: string): [string, number | undefined] | null {
  try {
    readHostlist(text).names();
    return null;
  } catch (error) {
    if (!isMusterError(error)) throw error;
    return [error.code, error.errors?.[0]?.position];
  }
}

describe('names', () => {
  test.each<[string, string[]]>([
    ['a,b,a', ['a', 'b']],
    ['n[1-3]', ['n1', 'n2', 'n3']],
    ['n[08-11]', ['n08', 'n09', 'n10', 'n11']],
    ['n[1-7/3]', ['n1', 'n4', 'n7']],
    ['n[1-8/3]', ['n1', 'n4', 'n7']],
    ['x1c[0-1]s[0,2]', ['x1c0s0', 'x1c0s2', 'x1c1s0', 'x1c1s2']],
    ['n[1-4],!n[2-3]', ['n1', 'n4']],
    ['!n1', []],
    ['!n1,n1', ['n1']],
    ['n[1-4],!n[2-3],n3', ['n1', 'n3', 'n4']],
    ['n[9-10]', ['n9', 'n10']],
    ['n10,n9', ['n9', 'n10']],
    ['n[1,01]', ['n1', 'n01']],
    ['n\\[1\\]', ['n[1]']],
    ['a\\,b', ['a,b']],
    ['\\!a,\\@b=c,\\\\', ['!a', '@b=c', '\\']],
    ['a!b@c', ['a!b@c']],
    ['[0-2]', ['0', '1', '2']],
    ['[1-2][3-4]', ['13', '14', '23', '24']],
    [' n1 , n2\n', ['n1', 'n2']],
    ['a b', ['a b']],
    ['a\\ ', ['a ']],
    ['n[1-1]', ['n1']],
    ['n[0-0/5]', ['n0']],
    ['n[99999999999999999998-99999999999999999999]', ['n99999999999999999998', 'n99999999999999999999']],
    ['\u{1F511}[1-2]', ['\u{1F511}1', '\u{1F511}2']],
    ['n[1-2].rack,x', ['n1.rack', 'n2.rack', 'x']],
  ])('%j', (text, names) => {
    expect(namesOf(text)).toEqual(names);
  });

  test('members of tags, brackets in their values, and terms that take members away', () => {
    const members = ({ key, value }: { key: string; value: string }) =>
      key === 'rack' ? [`${value}n1`, `${value}n2`] : ['r1n2'];
    const list = readHostlist('a,@rack=r[1-2],!@role=a=b');
    expect(list.tags).toEqual([
      { key: 'rack', value: 'r1' },
      { key: 'rack', value: 'r2' },
      { key: 'role', value: 'a=b' },
    ]);
    expect(list.names(members)).toEqual(['a', 'r1n1', 'r2n1', 'r2n2']);
    expect(list.names()).toEqual(['a']);
  });

  test('as many names as there may be', () => {
    expect(namesOf(`n[1-${HOSTLIST_NAMES}]`)).toHaveLength(HOSTLIST_NAMES);
  });
});

describe('mistakes', () => {
  test.each<[string, number]>([
    ['', 0],
    [',', 0],
    ['a,', 2],
    ['a,,b', 2],
    ['  ', 2],
    ['!', 0],
    ['a,!', 2],
    ['n[3-1]', 2],
    ['n[]', 2],
    ['n[1', 1],
    ['n]', 1],
    ['n[a-c]', 2],
    ['n[01-001]', 2],
    ['n[8-011]', 2],
    ['n[08-100]', 2],
    ['n[1-5/0]', 6],
    ['n[0:3]', 3],
    ['n[1,]', 4],
    ['n[1,2,x]', 6],
    ['n[1-]', 4],
    ['n[-1]', 2],
    ['n[1-2/]', 6],
    ['n[ 1]', 2],
    ['n[1[2]]', 1],
    ['a\\', 1],
    ['@', 0],
    ['x,@rack', 2],
    ['@=r1', 0],
    ['\u{1F511}]', 1],
  ])('%j at character %i', (text, position) => {
    expect(refusalOf(text)).toEqual(['bad_hostlist', position]);
  });

  test.each([
    'n[0-999999]',
    '[0-999][0-999]',
    '[0-99999999999999999999]',
    `n[1-${HOSTLIST_NAMES + 1}]`,
    `n[1-${HOSTLIST_NAMES}],a`,
    `n[1-${HOSTLIST_NAMES}],!n[1-2]`,
    '[0-9]'.repeat(5_000),
    'a'.repeat(64 * 1024 + 1),
    '\u{1F511}'.repeat(16 * 1024 + 1),
  ])('too large: %#', (text) => {
    expect(refusalOf(text)?.[0]).toBe('hostlist_too_large');
  });

  test('too many members of a tag', () => {
    const many = Array.from({ length: HOSTLIST_NAMES }, (_, index) => `n${index}`);
    expect(() => readHostlist('a,@role=x').names(() => many)).toThrow(/more than 200,000 names/);
  });
});

describe('folding', () => {
  test.each<[string[], string]>([
    [[], ''],
    [['n1'], 'n1'],
    [['n1', 'n2', 'n3', 'n5'], 'n[1-3,5]'],
    [['n08', 'n09', 'n10', 'n11'], 'n[08-11]'],
    [['n1', 'n01', 'n2'], 'n[01,1-2]'],
    [['n98', 'n99', 'n100'], 'n[98-100]'],
    [['n098', 'n099', 'n100', 'n101'], 'n[098-101]'],
    [['a', 'b,c', 'n[1]'], 'a,b\\,c,n\\[1\\]'],
    [['x1c0s0', 'x1c0s1', 'x1c1s0'], 'x1c0s[0-1],x1c1s0'],
  ])('%j', (names, text) => {
    expect(foldHostlist(names)).toBe(text);
  });

  test('what is folded means the same names', () => {
    const piece = fc.oneof(
      fc.constantFrom('n', 'x', '-', 'r1c', ',', '[', ']', '\\', '!', '@', ' ', '=', '\u{1F511}', '\ue000'),
      fc.nat(120).map(String),
      fc.nat(12).map((number) => `0${number}`),
      fc.constantFrom('9', '99', '009', '00', '99999999999999999999'),
    );
    const name = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 60 }), (names) => {
        expect(namesOf(foldHostlist(names))).toEqual(inNaturalOrder(new Set(names)));
      }),
      { numRuns: 500 },
    );
  });
});

describe('natural order', () => {
  test.each([
    [
      ['n10', 'n2', 'n1'],
      ['n1', 'n2', 'n10'],
    ],
    [
      ['n01', 'n1', 'n1a', 'n'],
      ['n', 'n1', 'n01', 'n1a'],
    ],
    [
      ['r2n1', 'r1n10', 'r1n9'],
      ['r1n9', 'r1n10', 'r2n1'],
    ],
    [
      ['n01b', 'n1a'],
      ['n1a', 'n01b'],
    ],
    [
      ['\u{1F511}', '\ue000', 'b', '1'],
      ['1', 'b', '\ue000', '\u{1F511}'],
    ],
  ])('%j', (names, ordered) => {
    expect(inNaturalOrder(names)).toEqual(ordered);
  });

  test('is an order: never both ways, and passed on', () => {
    const name = fc
      .array(fc.constantFrom('n', '1', '0', '01', 'a', ''), { maxLength: 5 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(name, name, name, (a, b, c) => {
        expect(Math.sign(byNaturalOrder(a, b)) + Math.sign(byNaturalOrder(b, a))).toBe(0);
        expect(byNaturalOrder(a, b) === 0).toBe(a === b);
        if (byNaturalOrder(a, b) <= 0 && byNaturalOrder(b, c) <= 0) expect(byNaturalOrder(a, c)).toBeLessThanOrEqual(0);
      }),
    );
  });
});
