/** What lists make of their filters: the URL, what the API is asked, and the command. */
import { describe, expect, test } from '@jest/globals';
import { isNarrowed, type ListFilter, listCommand, listPath, listReader } from '../../web/src/shared/list/filters.ts';
import { pathSegment } from '../../web/src/shared/path-segment.ts';

const FILTERS: readonly ListFilter[] = [
  { kind: 'text', name: 'name', label: 'Filter', most: 5, flag: '--name' },
  { kind: 'choice', name: 'phase', label: 'Status', words: ['running', 'gone'], flag: '--phase' },
  { kind: 'either', name: 'in_use', label: 'Use', yes: 'in use', no: 'not in use', flag: '--in-use' },
  { kind: 'switch', name: 'all', label: 'All', flag: '--all' },
  { kind: 'silent', name: 'since' },
];
const read = listReader(FILTERS);

describe('the URL of a list', () => {
  test.each<[Record<string, unknown>, object]>([
    [
      { name: 'web', phase: 'gone', in_use: false, all: true, since: 'now', after_id: 'x', shown: 'y' },
      { name: 'web', phase: 'gone', in_use: false, all: true, since: 'now', after_id: 'x', shown: 'y' },
    ],
    [
      { name: 5, after_id: 7 },
      { name: '5', after_id: '7' },
    ],
    [
      { name: 'longer', phase: 'walking', in_use: 'maybe', all: 'yes', since: {} },
      { dropped: ['name', 'phase', 'in_use', 'all', 'since'] },
    ],
    [{ name: '' }, {}],
  ])('%j is read as %j', (given, expected) => expect(read(given)).toEqual(expected));

  test.each<[object, boolean]>([
    [{}, false],
    [{ all: false }, false],
    [{ all: true }, true],
    [{ in_use: false }, true],
    [{ after_id: 'x', shown: 'y' }, false],
  ])('%j narrows: %j', (values, expected) => expect(isNarrowed(FILTERS, { ...values })).toBe(expected));
});

describe('what is asked', () => {
  test('has the filters that are set, and not what is looked at beside the list', () => {
    expect(listPath('/x', FILTERS, { name: 'a b&c', in_use: false, shown: 'y', after_id: 'z' }, { limit: '2' })).toBe(
      '/x?limit=2&name=a+b%26c&in_use=false&after_id=z',
    );
    expect(listPath('/x', FILTERS, {}, {})).toBe('/x');
  });

  test('is the same as a command, whose values stay values', () => {
    const values = { name: "-o 'x'", phase: 'gone', in_use: true, all: false, since: 'now' };
    expect(listCommand('./muster x list', FILTERS, values)).toBe(
      "./muster x list --name='-o '\\''x'\\''' --phase=gone --in-use",
    );
  });
});

test.each(['..', '.', '...', 'a/../b', '50%', 'ü', '%2e%2e', '?q', '#f', ' '])(
  'the name %j is one segment of a path, however a browser reads it',
  (name) => {
    const { pathname, search, hash } = new URL(`https://muster.example.test/api/v1/sources/${pathSegment(name)}`);
    expect([pathname.split('/').slice(0, 4), search, hash]).toEqual([['', 'api', 'v1', 'sources'], '', '']);
    expect(pathname.split('/')).toHaveLength(5);
    if (!/^\.{1,2}$/.test(name)) expect(decodeURIComponent(pathname.split('/')[4] ?? '')).toBe(name);
  },
);
