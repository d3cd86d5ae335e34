import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CHECK_SIZE, checkName, planChecks } from '../../domain/schedules/plan-checks.ts';
import { isSessionName } from '../../domain/sessions/naming.ts';

const KEY = '0123456789ab';

describe('which sessions check', () => {
  test.each([
    ['nothing', [], []],
    ['what desires nothing', [['a', '']], []],
    [
      'what no inventory can name',
      [
        ['a b', 'c'],
        ['all', 'c'],
        ['x*', 'c'],
        ['a:b', 'c'],
      ],
      [],
    ],
    ['one', [['a', 'c']], [['c', ['a']]]],
    [
      'two configurations, by name',
      [
        ['a', 'd'],
        ['b', 'c'],
        ['e', 'd'],
      ],
      [
        ['c', ['b']],
        ['d', ['a', 'e']],
      ],
    ],
    [
      'more than one session takes',
      [
        ['a', 'c'],
        ['b', 'c'],
        ['d', 'c'],
        ['e', 'c'],
        ['f', 'c'],
      ],
      [
        ['c', ['a', 'b']],
        ['c', ['d', 'e']],
        ['c', ['f']],
      ],
    ],
  ] as [string, [string, string][], [string, string[]][]][])('%s', (_name, components, expected) => {
    const given = components.map(([id, desired_config]) => ({ id, desired_config }));
    const { checks } = planChecks(given, KEY, 2);
    expect(checks.map(({ configuration, hosts }) => [configuration, hosts])).toEqual(expected);
  });

  test('every component that can be checked is in one session, of what it desires; the rest is counted', () => {
    const component = fc.record({
      id: fc.stringMatching(/^[a-z0-9*]{1,4}$/),
      desired_config: fc.constantFrom('', 'web', 'Db_1'),
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(component, { selector: ({ id }) => id }),
        fc.integer({ min: 1, max: 5 }),
        (all, size) => {
          const { checks, leftOut } = planChecks(all, KEY, size);
          const seen = checks.flatMap(({ configuration, hosts }) => hosts.map((id) => `${id} ${configuration}`));
          expect(new Set(seen).size).toBe(seen.length);
          expect(seen.length + leftOut.reduce((sum, { components }) => sum + components, 0)).toBe(all.length);
          for (const { id, desired_config } of all) {
            const possible = desired_config !== '' && !id.includes('*') && id !== 'all';
            expect(seen.includes(`${id} ${desired_config}`)).toBe(possible);
          }
          for (const { name, hosts } of checks) {
            expect(isSessionName(name)).toBe(true);
            expect(hosts.length).toBeLessThanOrEqual(size);
          }
          expect(new Set(checks.map(({ name }) => name)).size).toBe(checks.length);
        },
      ),
    );
  });

  test('the first 20 that are left out are named', () => {
    const many = Array.from({ length: 30 }, (_, index) => ({ id: `n${index}`, desired_config: '' }));
    const [entry] = planChecks(many, KEY).leftOut;
    expect([entry?.components, entry?.first.length]).toEqual([30, 20]);
    expect(CHECK_SIZE).toBeGreaterThan(1);
  });
});

test.each([
  ['web', 1, `check-web-${KEY}-1`],
  ['Web Servers_1', 12, `check-web-servers-1-${KEY}-12`],
  ['__', 1, `check-${KEY}-1`],
  ['ä', 1, `check-${KEY}-1`],
  [
    'a-very-long-name-of-a-configuration-indeed',
    1,
    `check-a-very-long-name-of-a-con-${KEY.slice(0, 12)}-1`.slice(0, 45),
  ],
])('the name of a check of %s', (configuration, number, name) => {
  const made = checkName(configuration, KEY, number);
  expect(isSessionName(made)).toBe(true);
  expect(made.length).toBeLessThanOrEqual(45);
  if (!configuration.startsWith('a-very')) expect(made).toBe(name);
  expect(made.endsWith(`-${KEY}-${number}`)).toBe(true);
});
